import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import zofl.mobile.Client;
import zofl.mobile.Config;
import zofl.mobile.Mobile;
import zofl.mobile.Model;

/**
 * Takes part with a model that is larger than this process's heap, and with a heap that is full.
 * No call may end the process. The settings are those of {@link Settings#config}; dim is the large
 * model's.
 */
public final class Memory {
	private Memory() {}

	public static void main(String[] args) {
		int code = 1;
		try {
			Settings settings = new Settings(args);
			Json.say(large(new Misfortune(settings, "large")).outcome);
			Json.say(full(new Misfortune(settings, "full")).outcome);
			code = 0;
		} catch (Throwable e) {
			e.printStackTrace();
		}
		System.exit(code);
	}

	/** Block mode works; what would need an array of the model's size does not, and says so. */
	private static Misfortune large(Misfortune m) throws Exception {
		Config simple = m.config();
		simple.setObjective(new Bowl(1));
		m.note("simple", Misfortune.code(() -> Mobile.newClient(simple)));

		AtomicLong block = new AtomicLong();
		Config c = m.config();
		c.setBlockObjective(r -> {
			if (block.get() == 0) {
				block.set(r.block(0, r.dim()).length);
			}
			return new Bowl(1).loss(r);
		});
		Client client = Mobile.newClient(c);
		Life life = new Life(client);
		m.contributes(client);
		client.stop();
		m.ends(client, life);
		m.note("block", block.get());
		m.note("model", client.model() == null);
		Model copy = client.copyModel();
		m.note("record", copy.record() > 1);
		long read = 0;
		for (byte[] piece; (piece = copy.block(read, copy.dim())) != null; ) {
			read += piece.length / 4;
		}
		m.note("read", read);
		return m;
	}

	/** Where there is no room for the array of simple mode, the app gets null and goes on. */
	private static Misfortune full(Misfortune m) throws Exception {
		List<byte[]> ballast = new ArrayList<>(1000);
		boolean[] seen = new boolean[1];
		Config c = m.settings.config(m.name, "java");
		c.setDim(Mobile.MaxBlock);
		c.setListener(m.watch);
		c.setObjective(x -> {
			if (x == null) {
				ballast.clear();
				seen[0] = true;
				throw new IllegalStateException("no room for the parameters");
			}
			if (!seen[0]) {
				ballast.add(x); // its room would do for the next array
				fill(ballast);
			}
			return new Bowl(1).loss(x);
		});
		m.recovers(c, Mobile.CodeLoss);
		m.note("seen", seen[0]);
		return m;
	}

	/** Leaves little of the heap. */
	private static void fill(List<byte[]> ballast) {
		try {
			for (;;) {
				ballast.add(new byte[1 << 20]);
			}
		} catch (OutOfMemoryError e) {
			ballast.remove(ballast.size() - 1);
		}
	}
}
