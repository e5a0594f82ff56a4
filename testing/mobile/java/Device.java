import java.util.LinkedHashMap;
import java.util.Map;
import zofl.mobile.Client;
import zofl.mobile.Config;
import zofl.mobile.Listener;
import zofl.mobile.Mobile;

/**
 * A device of a run: url, run, device, dim, mode (simple or block), shift, and perhaps
 * ca, credentials, plaintext, store. It takes part until the run ends, then prints its
 * state.
 */
public final class Device implements Listener {
	public static void main(String[] args) {
		int code = 1;
		try {
			run(new Settings(args));
			code = 0;
		} catch (Throwable e) {
			e.printStackTrace();
		}
		System.exit(code); // Go's threads would keep the JVM alive
	}

	private static void run(Settings s) throws Exception {
		Config config = s.config(s.text("run"), s.text("device"));
		if (s.has("store")) {
			config.setStateDir(s.text("store"));
		}
		Bowl bowl = new Bowl(s.number("shift"));
		if (s.text("mode").equals("block")) {
			config.setBlockObjective(bowl);
		} else {
			config.setObjective(bowl);
		}
		config.setListener(new Device());
		Client client = Mobile.newClient(config);
		client.load();
		say("loaded", client);
		client.run();
		say("end", client);
	}

	private static void say(String event, Client client) throws Exception {
		byte[] digest = new byte[32];
		Map<String, Object> v = new LinkedHashMap<>();
		v.put("event", event);
		v.put("n", client.digest(digest));
		v.put("digest", hex(digest));
		v.put("model", client.params(new byte[4 * (int) client.dim()]));
		v.put("state", Mobile.stateName(client.state()));
		v.put("contributions", client.contributions());
		v.put("queries", client.queries());
		v.put("loss", client.loss());
		v.put("sent", client.bytesSent());
		v.put("received", client.bytesReceived());
		Json.say(v);
	}

	private static String hex(byte[] bytes) {
		StringBuilder b = new StringBuilder();
		for (byte v : bytes) {
			b.append(String.format("%02x", v));
		}
		return b.toString();
	}

	@Override
	public void onState(long state, String reason) {
		Map<String, Object> v = new LinkedHashMap<>();
		v.put("event", "state");
		v.put("state", Mobile.stateName(state));
		v.put("reason", reason);
		Json.say(v);
	}

	@Override
	public void onProgress(long record, long last, long round, long contributions, double loss) {}

	@Override
	public void onFault(String code, String message) {
		Map<String, Object> v = new LinkedHashMap<>();
		v.put("event", "fault");
		v.put("code", code);
		v.put("message", message);
		Json.say(v);
	}
}
