import java.lang.reflect.Method;
import java.util.LinkedHashMap;
import java.util.Map;
import zofl.mobile.Client;
import zofl.mobile.Config;
import zofl.mobile.Mobile;

/**
 * Lets one thing after another go wrong in this process. The settings are those of
 * {@link Settings#config}. case lists the runs, separated by commas; each is a method of
 * {@link Losses}, {@link Calls}, {@link Directs}, {@link Everything} or {@link Servers}. The
 * program prints the result of each, and the test compares it with the expected one.
 */
public final class Misfortune {
	final Settings settings;
	final String name;
	final Map<String, Object> outcome = new LinkedHashMap<>();
	final Watch watch = new Watch();

	Misfortune(Settings settings, String name) {
		this.settings = settings;
		this.name = name;
		outcome.put("event", "case");
		outcome.put("case", name);
	}

	public static void main(String[] args) {
		Settings settings = new Settings(args);
		for (String name : settings.text("cases").split(",")) {
			Misfortune m = new Misfortune(settings, name);
			try {
				method(name).invoke(null, m);
			} catch (Throwable e) {
				Throwable cause = e.getCause() == null ? e : e.getCause();
				cause.printStackTrace();
				m.outcome.put("failed", cause + ", faults: " + m.watch);
			}
			Json.say(m.outcome);
		}
		System.exit(0); // whatever still hangs
	}

	private static Method method(String name) throws NoSuchMethodException {
		for (Class<?> c : new Class<?>[] {Losses.class, Calls.class, Directs.class,
			Everything.class, Servers.class}) {
			try {
				return c.getDeclaredMethod(name, Misfortune.class);
			} catch (NoSuchMethodException e) {
				// try the next class
			}
		}
		throw new NoSuchMethodException(name);
	}

	/** A config for this case's run, with {@link #watch} as its listener. */
	Config config() throws Exception {
		Config c = settings.config(name, "java");
		c.setListener(watch);
		c.setNotStrict(true); // many of these losses fail at first
		return c;
	}

	/** Records a result of the case. */
	void note(String key, Object value) {
		outcome.put(key, value);
	}

	/** Runs until the device has contributed twice, after a fault if a code is given. */
	void recovers(Config config, String code) throws Exception {
		Client client = Mobile.newClient(config);
		Life life = new Life(client);
		if (code != null) {
			watch.awaitFault(code);
			note("fault", watch.message(code));
		}
		contributes(client);
		client.stop();
		ends(client, life);
	}

	/** Waits until the device has contributed to two more rounds. */
	void contributes(Client client) {
		long before = client.contributions();
		try {
			Watch.until("contribution", () -> client.contributions() >= before + 2);
		} catch (IllegalStateException e) {
			throw new IllegalStateException("no contribution, faults: " + watch);
		}
		note("contributed", true);
	}

	/** Waits for the end of a client that was stopped. */
	void ends(Client client, Life life) throws Exception {
		note("error", life.end());
		note("state", Mobile.stateName(client.state()));
	}

	/** The code of the exception that a call throws, "" if none. */
	static String code(Life.Call call) {
		return Mobile.errorCode(Life.errorOf(call));
	}
}
