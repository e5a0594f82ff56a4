import java.util.HashMap;
import java.util.Map;
import zofl.mobile.Config;
import zofl.mobile.Mobile;

/** The test's settings, from name=value arguments, and configs made from them. */
final class Settings {
	private final Map<String, String> values = new HashMap<>();

	Settings(String[] args) {
		for (String arg : args) {
			int at = arg.indexOf('=');
			values.put(arg.substring(0, at), arg.substring(at + 1));
		}
	}

	boolean has(String name) {
		return values.containsKey(name);
	}

	String text(String name) {
		String value = values.get(name);
		if (value == null) {
			throw new IllegalArgumentException("no " + name + "=");
		}
		return value;
	}

	int number(String name) {
		return Integer.parseInt(text(name));
	}

	/** A config for a device of a run at the test's broker, without an objective. */
	Config config(String run, String device) throws Exception {
		Config c = Mobile.newConfig();
		c.setRun(run);
		c.setDevice(device);
		c.setDim(number("dim"));
		c.setPlaintext(has("plaintext"));
		c.addServer(text("url"));
		if (has("ca")) {
			c.setCA(text("ca"));
		}
		if (has("credentials")) {
			c.setCredentials(text("credentials"));
		}
		return c;
	}
}
