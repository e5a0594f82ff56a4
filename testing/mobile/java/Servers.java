import java.util.concurrent.CountDownLatch;
import zofl.mobile.Client;
import zofl.mobile.Config;
import zofl.mobile.Mobile;

/** Servers that cannot be used, and runs that do not fit. */
final class Servers {
	private Servers() {}

	/** Waits for a fault, and stops. */
	private static void fault(Misfortune m, Config c, String code) throws Exception {
		c.setObjective(new Bowl(1));
		c.setListener(m.watch);
		Client client = Mobile.newClient(c);
		Life life = new Life(client);
		m.watch.awaitFault(code);
		m.note("fault", m.watch.message(code));
		m.note("while", Mobile.stateName(client.state()));
		client.stop();
		m.ends(client, life);
	}

	static void authority(Misfortune m) throws Exception {
		Config c = m.config();
		c.setCA(m.settings.text("otherCA"));
		fault(m, c, Mobile.CodeTLS);
	}

	/** Java's own trust decides about the server, whose authority it is given. */
	static void platform(Misfortune m) throws Exception {
		Config c = m.config();
		c.setTrust(new PlatformTrust(m.settings.text("ca")));
		c.setObjective(new Bowl(1));
		m.recovers(c, null);
	}

	/** Java's own trust decides, and does not know the authority. */
	static void stranger(Misfortune m) throws Exception {
		Config c = m.config();
		c.setTrust(new PlatformTrust(null));
		fault(m, c, Mobile.CodeTLS);
	}

	/** The app's trust hangs, which the end of run does not wait for. */
	static void trustHangs(Misfortune m) throws Exception {
		CountDownLatch called = new CountDownLatch(1);
		Config c = m.config();
		c.setObjective(new Bowl(1));
		c.setTrust(chain -> {
			called.countDown();
			new CountDownLatch(1).await();
		});
		Client client = Mobile.newClient(c);
		Life life = new Life(client);
		called.await();
		client.stop();
		m.ends(client, life);
	}

	static void pinned(Misfortune m) throws Exception {
		Config c = m.config();
		c.addPin(m.settings.text("pin"));
		c.setObjective(new Bowl(1));
		m.recovers(c, null);
	}

	static void mispinned(Misfortune m) throws Exception {
		Config c = m.config();
		c.addPin(m.settings.text("otherPin"));
		fault(m, c, Mobile.CodeTLS);
	}

	static void user(Misfortune m) throws Exception {
		Config c = m.config();
		c.setCredentials(m.settings.text("stranger"));
		fault(m, c, Mobile.CodeUnauthorized);
	}

	private static Config at(Misfortune m, String url) throws Exception {
		Config c = Mobile.newConfig();
		c.setRun(m.name);
		c.setDevice("java");
		c.setDim(m.settings.number("dim"));
		c.addServer(url);
		c.setObjective(new Bowl(1));
		return c;
	}

	static void offline(Misfortune m) throws Exception {
		fault(m, at(m, "tls://127.0.0.1:1"), Mobile.CodeOffline);
	}

	/** A server without TLS, which the app did not allow. */
	static void clear(Misfortune m) throws Exception {
		fault(m, at(m, m.settings.text("clear")), Mobile.CodeTLS);
	}

	static void insecure(Misfortune m) throws Exception {
		m.note("websocket", Misfortune.code(() -> Mobile.newClient(at(m, "ws://127.0.0.1:1"))));
		Config c = at(m, "nats://192.0.2.1:4222");
		c.setPlaintext(true);
		m.note("elsewhere", Misfortune.code(() -> Mobile.newClient(c)));
	}

	static void dimension(Misfortune m) throws Exception {
		Config c = m.config();
		c.setDim(c.getDim() + 1);
		c.setObjective(new Bowl(1));
		m.note("code", Misfortune.code(Mobile.newClient(c)::run));
	}
}
