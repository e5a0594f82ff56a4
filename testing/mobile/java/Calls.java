import java.lang.ref.WeakReference;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import zofl.mobile.Client;
import zofl.mobile.Config;
import zofl.mobile.Evaluation;
import zofl.mobile.Listener;
import zofl.mobile.Mobile;
import zofl.mobile.Objective;
import zofl.mobile.Round;

/** Calls that an app should not make, and many concurrent calls, which it may make. */
final class Calls {
	private Calls() {}

	/** Calls everything from several threads at once during rounds. */
	static void threads(Misfortune m) throws Exception {
		AtomicInteger differences = new AtomicInteger();
		Config c = m.config();
		c.setBlockObjective(r -> {
			differences.addAndGet(differences(r));
			return new Bowl(1).loss(r);
		});
		Client client = Mobile.newClient(c);
		Life life = new Life(client);
		AtomicBoolean over = new AtomicBoolean();
		Thread[] callers = new Thread[4];
		for (int i = 0; i < callers.length; i++) {
			callers[i] = new Thread(() -> {
				while (!over.get()) {
					look(client);
				}
			});
			callers[i].start();
		}
		m.contributes(client);
		over.set(true);
		for (Thread t : callers) {
			t.join();
		}
		client.stop();
		m.ends(client, life);
		m.note("differences", differences.get());
	}

	private static void look(Client client) {
		byte[] params = new byte[4 * (int) client.dim()];
		Life.errorOf(() -> client.params(params));
		Life.errorOf(() -> client.digest(new byte[32]));
		client.setNetwork(true, false);
		client.setPower(true, 80);
		Mobile.stateName(client.state());
		client.loss();
	}

	/** Four threads each read a quarter of a round's parameters, with the same result as one. */
	private static int differences(Round r) throws Exception {
		int n = (int) r.dim();
		byte[] whole = new byte[4 * n];
		r.readParams(0, whole);
		Thread[] readers = new Thread[4];
		AtomicInteger differences = new AtomicInteger();
		for (int i = 0; i < readers.length; i++) {
			int from = n * i / readers.length;
			int to = n * (i + 1) / readers.length;
			readers[i] = new Thread(() -> {
				byte[] part = new byte[4 * (to - from)];
				String code = Misfortune.code(() -> r.readParams(from, part));
				if (code.equals(Mobile.CodeRevoked)) {
					return; // this machine was too slow for the round
				}
				if (!code.isEmpty() || !Arrays.equals(part, Arrays.copyOfRange(whole, 4 * from, 4 * to))) {
					differences.incrementAndGet();
				}
			});
			readers[i].start();
		}
		for (Thread t : readers) {
			t.join();
		}
		return differences.get();
	}

	/** An evaluator that throws, then works, and whose evaluation is kept after its call. */
	static void evaluator(Misfortune m) throws Exception {
		AtomicInteger calls = new AtomicInteger();
		AtomicReference<Evaluation> kept = new AtomicReference<>();
		Config c = m.config();
		c.setObjective(new Bowl(1));
		c.setEvaluator(e -> {
			if (calls.incrementAndGet() <= 2) {
				throw new IllegalStateException("not ready");
			}
			e.readParams(0, new byte[4 * (int) e.dim()]);
			e.setSamples(10);
			e.addMetric(0.5);
			kept.set(e);
		});
		Client client = Mobile.newClient(c);
		Life life = new Life(client);
		Watch.until("evaluation", () -> calls.get() >= 5);
		m.contributes(client);
		client.stop();
		m.ends(client, life);
		m.note("code", Misfortune.code(() -> kept.get().readParams(0, new byte[64])));
		m.note("late", Misfortune.code(() -> kept.get().addMetric(1)));
	}

	/** A round that is kept after its call. */
	static void revoked(Misfortune m) throws Exception {
		AtomicReference<Round> kept = new AtomicReference<>();
		Config c = m.config();
		c.setBlockObjective(r -> {
			kept.set(r);
			return new Bowl(1).loss(r);
		});
		m.recovers(c, null);
		m.note("code", Misfortune.code(() -> kept.get().readParams(0, new byte[64])));
	}

	/** Two runs of one client, and one after stop. */
	static void twice(Misfortune m) throws Exception {
		Config c = m.config();
		c.setObjective(new Bowl(1));
		Client client = Mobile.newClient(c);
		Life life = new Life(client);
		m.contributes(client);
		m.note("second", Misfortune.code(client::run));
		m.note("load", Misfortune.code(client::load));
		client.stop();
		client.stop();
		m.ends(client, life);
		m.note("after", Misfortune.code(client::run));
		m.note("model", client.params(new byte[4 * (int) client.dim()]) > 0);
	}

	/** Two budgets, one after another. Each is repeated if it was too short to connect. */
	static void budget(Misfortune m) throws Exception {
		Config c = m.config();
		c.setObjective(new Bowl(1));
		c.setStateDir(m.settings.text("store") + "-budget");
		Client client = Mobile.newClient(c);
		for (String run : new String[] {"first", "second"}) {
			long before = client.contributions();
			Watch.until("contribution", () -> {
				m.note(run, Life.errorOf(() -> client.runFor(1500)));
				return client.contributions() > before || !m.outcome.get(run).equals("");
			});
			m.note(run + "Contributed", client.contributions() > before);
		}
		m.note("state", Mobile.stateName(client.state()));
		m.note("negative", Misfortune.code(() -> client.runFor(-1)));
		client.stop();
	}

	/** A metered network, a low battery, and a reconnect. */
	static void policy(Misfortune m) throws Exception {
		Config c = m.config();
		c.setObjective(new Bowl(1));
		c.setUnmeteredOnly(true);
		c.setMinBattery(50);
		Client client = Mobile.newClient(c);
		client.setNetwork(true, true);
		client.setPower(false, 80);
		Life life = new Life(client);
		m.watch.awaitFault(Mobile.CodePolicy);
		m.note("fault", m.watch.message(Mobile.CodePolicy));
		m.note("meanwhile", client.contributions());
		client.setNetwork(true, false);
		m.contributes(client);
		client.reconnect();
		m.contributes(client);
		client.stop();
		m.ends(client, life);
	}

	/** Two clients that use one folder. */
	static void locked(Misfortune m) throws Exception {
		String store = m.settings.text("store") + "-locked";
		Config c = m.config();
		c.setObjective(new Bowl(1));
		c.setStateDir(store);
		Client client = Mobile.newClient(c);
		Life life = new Life(client);
		m.contributes(client);
		Config other = m.settings.config(m.name, "other");
		other.setObjective(new Bowl(1));
		other.setStateDir(store);
		m.note("code", Misfortune.code(Mobile.newClient(other)::run));
		client.stop();
		m.ends(client, life);
	}

	/** Arguments that make no sense. */
	static void arguments(Misfortune m) throws Exception {
		AtomicReference<String> codes = new AtomicReference<>("");
		Config c = m.config();
		c.setBlockObjective(r -> {
			codes.set(String.join(" ",
					Misfortune.code(() -> r.readParams(-1, new byte[64])),
					Misfortune.code(() -> r.readParams(r.dim() + 1, new byte[64])),
					Misfortune.code(() -> r.readParams(0, new byte[7])),
					String.valueOf(r.readParams(r.dim() - 1, new byte[64]))));
			return new Bowl(1).loss(r);
		});
		Client client = Mobile.newClient(c);
		m.note("params", Misfortune.code(() -> client.params(new byte[3])));
		m.note("nullParams", Misfortune.code(() -> client.params(null)));
		m.note("digest", Misfortune.code(() -> client.digest(new byte[31])));
		Life life = new Life(client);
		m.contributes(client);
		client.stop();
		m.ends(client, life);
		m.note("reads", codes.get());
		m.note("noConfig", Misfortune.code(() -> Mobile.newClient(null)));
		m.note("used", Misfortune.code(() -> Mobile.newClient(c))); // it made a client
		m.note("unmade", Misfortune.code(() -> new Round().readParams(0, new byte[4])));
		Config bad = Mobile.newConfig();
		bad.setObjective(null);
		bad.setBlockObjective(null);
		bad.setEvaluator(null);
		bad.setListener(null);
		m.note("noObjective", Misfortune.code(() -> Mobile.newClient(bad)));
		m.note("server", Misfortune.code(() -> bad.addServer("")));
		m.note("ca", Misfortune.code(() -> bad.setCA("no certificate")));
		m.note("credentials", Misfortune.code(() -> bad.setCredentials("no seed")));
		m.note("runKey", Misfortune.code(() -> bad.setRunKey(null)));
		m.note("initial", Misfortune.code(() -> bad.setInitial(new byte[5])));
	}

	/** After stop the client releases the app's objects. */
	static void released(Misfortune m) throws Exception {
		WeakReference<?>[] held = lived(m);
		for (WeakReference<?> w : held) {
			Watch.until("release", () -> {
				System.gc();
				return w.get() == null;
			});
		}
		m.note("released", held.length);
	}

	/** Runs a client and returns the object that it called, leaving no reference on the stack. */
	private static WeakReference<?>[] lived(Misfortune m) throws Exception {
		byte[] data = new byte[1 << 20]; // what an app's objective holds
		Objective objective = x -> new Bowl(data.length % 5).loss(x);
		Listener listener = new Watch();
		Config c = m.settings.config(m.name, "java");
		c.setObjective(objective);
		c.setListener(listener);
		m.recovers(c, null);
		return new WeakReference<?>[] {
			new WeakReference<>(objective), new WeakReference<>(data), new WeakReference<>(listener)};
	}
}
