import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import zofl.mobile.Listener;

/** A listener that records its calls. */
final class Watch implements Listener {
	private final List<String[]> faults = new ArrayList<>(); // code, message

	/** Returns when the condition holds; throws if it does not within minutes. */
	static void until(String what, BooleanSupplier condition) {
		long late = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
		while (!condition.getAsBoolean()) {
			if (System.nanoTime() > late) {
				throw new IllegalStateException("still no " + what);
			}
			LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
		}
	}

	/** The message of the first fault with a code, null if there is none. */
	synchronized String message(String code) {
		for (String[] fault : faults) {
			if (fault[0].equals(code)) {
				return fault[1];
			}
		}
		return null;
	}

	void awaitFault(String code) {
		try {
			until("fault", () -> message(code) != null);
		} catch (IllegalStateException e) {
			throw new IllegalStateException("no fault " + code + ", but " + this);
		}
	}

	@Override
	public synchronized String toString() {
		StringBuilder b = new StringBuilder();
		for (String[] fault : faults) {
			b.append(fault[0]).append(" (").append(fault[1]).append(") ");
		}
		return b.toString();
	}

	@Override
	public void onState(long state, String reason) {}

	@Override
	public void onProgress(long record, long last, long round, long contributions, double loss) {}

	@Override
	public synchronized void onFault(String code, String message) {
		faults.add(new String[] {code, message});
	}
}
