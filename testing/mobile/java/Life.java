import java.util.concurrent.TimeUnit;
import zofl.mobile.Client;

/** Runs a client on a thread of its own. */
final class Life {
	private final Thread thread;
	private volatile String error = "";

	Life(Client client) {
		thread = new Thread(() -> error = errorOf(client::run));
		thread.start();
	}

	/** What a call throws, "" if nothing. */
	static String errorOf(Call call) {
		try {
			call.run();
			return "";
		} catch (Exception e) {
			return e.getMessage();
		}
	}

	interface Call {
		void run() throws Exception;
	}

	/** Waits for the end of run, and returns what it threw, "" if nothing. */
	String end() throws InterruptedException {
		thread.join(TimeUnit.MINUTES.toMillis(2));
		return thread.isAlive() ? "run does not return" : error;
	}
}
