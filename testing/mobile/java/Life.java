import java.util.concurrent.TimeUnit;
import zofl.mobile.Client;

/** Runs a client on its own thread. */
final class Life {
	private final Thread thread;
	private volatile String error = "";

	Life(Client client) {
		thread = new Thread(() -> error = errorOf(client::run));
		thread.start();
	}

	/** The message of the exception that a call throws, "" if none. */
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

	/** Waits until run ends, and returns the message of its exception, "" if none. */
	String end() throws InterruptedException {
		thread.join(TimeUnit.MINUTES.toMillis(2));
		return thread.isAlive() ? "run does not return" : error;
	}
}
