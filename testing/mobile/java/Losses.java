import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import zofl.mobile.BlockObjective;
import zofl.mobile.Client;
import zofl.mobile.Config;
import zofl.mobile.Listener;
import zofl.mobile.Mobile;
import zofl.mobile.Objective;

/** Losses and listeners that fail. */
final class Losses {
	private Losses() {}

	private static final Bowl GOOD = new Bowl(3);

	/** A loss that fails for a few calls, then works. */
	private static Objective atFirst(Objective bad) {
		AtomicInteger calls = new AtomicInteger();
		return x -> calls.incrementAndGet() <= 2 ? bad.loss(x) : GOOD.loss(x);
	}

	static void throwing(Misfortune m) throws Exception {
		Config c = m.config();
		c.setObjective(atFirst(x -> {
			throw new IllegalStateException("out of luck");
		}));
		m.recovers(c, Mobile.CodeLoss);
	}

	static void throwingNothing(Misfortune m) throws Exception {
		Config c = m.config();
		c.setObjective(atFirst(x -> {
			throw new NullPointerException(null); // without a message
		}));
		m.recovers(c, Mobile.CodeLoss);
	}

	static void asserting(Misfortune m) throws Exception {
		Config c = m.config();
		c.setBlockObjective(r -> {
			if (m.watch.message(Mobile.CodeLoss) == null) {
				throw new AssertionError("want 3", new IllegalStateException("had 4"));
			}
			return GOOD.loss(r);
		});
		m.recovers(c, Mobile.CodeLoss);
	}

	/** A throwable whose own methods throw. */
	static void hostile(Misfortune m) throws Exception {
		Config c = m.config();
		c.setObjective(atFirst(x -> {
			throw new Hostile();
		}));
		m.recovers(c, Mobile.CodeLoss);
	}

	private static final class Hostile extends RuntimeException {
		private static final long serialVersionUID = 1;

		@Override
		public String getMessage() {
			throw new IllegalStateException("no message");
		}
	}

	static void nan(Misfortune m) throws Exception {
		Config c = m.config();
		c.setObjective(atFirst(x -> Double.NaN));
		m.recovers(c, Mobile.CodeLoss);
	}

	static void overflow(Misfortune m) throws Exception {
		Config c = m.config();
		c.setObjective(atFirst(x -> endless(1)));
		m.recovers(c, Mobile.CodeLoss);
	}

	private static double endless(double x) {
		return endless(x + 1) + 1;
	}

	/** Returns only after the next round has begun, which the device must decline. */
	static void slow(Misfortune m) throws Exception {
		Config c = m.config();
		c.setObjective(atFirst(x -> {
			m.watch.awaitFault(Mobile.CodeBusy);
			return GOOD.loss(x);
		}));
		m.recovers(c, Mobile.CodeBusy);
	}

	/** Notices that the round is over, and returns. */
	static void late(Misfortune m) throws Exception {
		AtomicInteger calls = new AtomicInteger();
		Config c = m.config();
		c.setBlockObjective(r -> {
			if (calls.incrementAndGet() == 1) {
				Watch.until("end of the round", r::cancelled);
			}
			return GOOD.loss(r);
		});
		m.recovers(c, null);
	}

	/** Never returns, but stop does, and the next client can use the state. */
	static void forever(Misfortune m) throws Exception {
		CountDownLatch called = new CountDownLatch(1);
		Config c = m.config();
		c.setStateDir(m.settings.text("store"));
		c.setObjective(x -> {
			called.countDown();
			for (;;) {
				LockSupport.park();
			}
		});
		Client client = Mobile.newClient(c);
		Life life = new Life(client);
		called.await();
		client.stop();
		m.ends(client, life);

		Config again = m.config();
		again.setStateDir(m.settings.text("store"));
		again.setObjective(GOOD);
		m.recovers(again, null);
	}

	static void badListener(Misfortune m) throws Exception {
		AtomicInteger told = new AtomicInteger();
		Config c = m.config();
		c.setObjective(GOOD);
		c.setListener(new Listener() {
			private void fail() {
				told.incrementAndGet();
				throw new IllegalStateException("do not tell me");
			}

			@Override
			public void onState(long state, String reason) {
				fail();
			}

			@Override
			public void onProgress(long record, long last, long round, long contributions, double loss) {
				fail();
			}

			@Override
			public void onFault(String code, String message) {
				fail();
			}
		});
		m.recovers(c, null);
		m.note("told", told.get() > 1);
	}

	static void stopInLoss(Misfortune m) throws Exception {
		Client[] client = new Client[1];
		CountDownLatch made = new CountDownLatch(1);
		BlockObjective stops = r -> {
			made.await();
			client[0].stop();
			return 1;
		};
		Config c = m.config();
		c.setBlockObjective(stops);
		client[0] = Mobile.newClient(c);
		Life life = new Life(client[0]);
		made.countDown();
		m.ends(client[0], life);
	}

	static void stopInListener(Misfortune m) throws Exception {
		Client[] client = new Client[1];
		CountDownLatch made = new CountDownLatch(1);
		Config c = m.config();
		c.setObjective(GOOD);
		c.setListener(new Listener() {
			@Override
			public void onState(long state, String reason) {}

			@Override
			public void onProgress(long record, long last, long round, long contributions, double loss)
					throws Exception {
				if (contributions > 0) {
					made.await(1, TimeUnit.MINUTES);
					client[0].stop();
				}
			}

			@Override
			public void onFault(String code, String message) {}
		});
		client[0] = Mobile.newClient(c);
		Life life = new Life(client[0]);
		made.countDown();
		m.ends(client[0], life);
	}
}
