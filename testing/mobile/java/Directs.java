import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import zofl.mobile.Client;
import zofl.mobile.Config;
import zofl.mobile.Direct;
import zofl.mobile.Evaluation;
import zofl.mobile.Mobile;
import zofl.mobile.Probes;
import zofl.mobile.Round;

/** Reads into direct buffers, and buffers that cannot be used. */
final class Directs {
	private static final int EDGE = 8; // bytes before and after those that a read may write

	private Directs() {}

	/** A read of so many bytes, as an app would write it with an array or with a buffer. */
	private interface Read<T> {
		long into(T dst) throws Exception;
	}

	/** A part of a direct buffer, amid bytes that a read must leave alone. */
	private static ByteBuffer room(int bytes) {
		ByteBuffer all = ByteBuffer.allocateDirect(EDGE + bytes + EDGE).order(ByteOrder.nativeOrder());
		for (int i = 0; i < all.capacity(); i++) {
			all.put(i, (byte) 0x5a);
		}
		all.position(EDGE).limit(EDGE + bytes);
		return all;
	}

	/** What differs between a read into an array and one into a buffer; null: nothing. */
	private static String difference(int bytes, Read<byte[]> array, Read<ByteBuffer> buffer)
			throws Exception {
		byte[] want = new byte[EDGE + bytes + EDGE];
		Arrays.fill(want, (byte) 0x5a);
		byte[] part = Arrays.copyOfRange(want, EDGE, EDGE + bytes);
		long n = array.into(part);
		System.arraycopy(part, 0, want, EDGE, bytes);
		ByteBuffer room = room(bytes);
		long m = buffer.into(room);
		if (n != m || room.position() != EDGE || room.remaining() != bytes) {
			return "read " + n + ", and " + m + " into " + room;
		}
		byte[] got = new byte[want.length];
		room.clear();
		room.get(got);
		return Arrays.equals(want, got) ? null : Arrays.toString(want) + " and " + Arrays.toString(got);
	}

	/** Every read gives an array and a direct buffer the same bytes, and the buffer no others. */
	static void direct(Misfortune m) throws Exception {
		List<String> wrong = new ArrayList<>();
		AtomicReference<Probes> probes = new AtomicReference<>();
		AtomicReference<Evaluation> evaluation = new AtomicReference<>();
		Config c = m.config();
		c.setBatchObjective(p -> {
			int n = (int) p.dim();
			int count = (int) p.count();
			note(wrong, difference(4 * n * count, b -> p.readAll(0, n, b), b -> Direct.readAll(p, 0, n, b)));
			note(wrong, difference(4 * 7 * count, b -> p.readAll(n - 5, 7, b),
					b -> Direct.readAll(p, n - 5, 7, b)));
			note(wrong, difference(4 * n, b -> p.readParams(1, 0, b), b -> Direct.readParams(p, 1, 0, b)));
			note(wrong, difference(2 * n, b -> p.readHalf(1, 3, b), b -> Direct.readHalf(p, 1, 3, b)));
			note(wrong, difference(n, b -> p.readInt8(1, 3, 0.01, b),
					b -> Direct.readInt8(p, 1, 3, 0.01, b)));
			for (int i = 0; i < count; i++) {
				p.setLoss(i, i);
			}
			probes.set(p);
		});
		c.setEvaluator(e -> {
			int n = (int) e.dim();
			note(wrong, difference(4 * n, b -> e.readParams(2, b), b -> Direct.readParams(e, 2, b)));
			note(wrong, difference(2 * n, b -> e.readHalf(0, b), b -> Direct.readHalf(e, 0, b)));
			note(wrong, difference(n, b -> e.readInt8(0, 0.01, b), b -> Direct.readInt8(e, 0, 0.01, b)));
			e.setSamples(10);
			e.addMetric(0.5);
			evaluation.set(e);
		});
		Client client = Mobile.newClient(c);
		Life life = new Life(client);
		Watch.until("evaluation", () -> evaluation.get() != null);
		m.contributes(client);
		client.stop();
		m.ends(client, life);
		m.note("wrong", String.join("; ", wrong));
		m.note("late", Misfortune.code(() -> Direct.readAll(probes.get(), 0, 1,
				room(4 * (int) probes.get().count()))));
	}

	private static void note(List<String> wrong, String difference) {
		if (difference != null) {
			wrong.add(difference);
		}
	}

	/** Buffers that cannot be used are refused with a code, and the process lives on. */
	static void notDirect(Misfortune m) throws Exception {
		List<String> codes = new ArrayList<>();
		List<String> wrong = new ArrayList<>();
		Config c = m.config();
		c.setBlockObjective(r -> {
			int n = (int) r.dim();
			note(wrong, difference(4 * n, b -> r.readParams(0, b), b -> Direct.readParams(r, 0, b)));
			note(wrong, difference(2 * n, b -> r.readHalf(1, b), b -> Direct.readHalf(r, 1, b)));
			note(wrong, difference(n, b -> r.readInt8(1, 0.01, b), b -> Direct.readInt8(r, 1, 0.01, b)));
			note(wrong, difference(4, b -> r.readParams(n - 1, b), b -> Direct.readParams(r, n - 1, b)));
			note(wrong, odd(r));
			codes.clear();
			for (ByteBuffer dst : bad()) {
				codes.add(Misfortune.code(() -> Direct.readParams(r, 0, dst)));
			}
			codes.add(Misfortune.code(() -> Direct.readParams(r, -1, room(8))));
			codes.add(Misfortune.code(() -> Direct.readInt8(r, 0, 0, room(8))));
			codes.add(Misfortune.code(() -> Direct.readParams((Round) null, 0, room(8))));
			codes.add(String.valueOf(Direct.readParams(r, 0, room(0))));
			note(wrong, beyond(r));
			return new Bowl(1).loss(r);
		});
		Client client = Mobile.newClient(c);
		Life life = new Life(client);
		m.contributes(client);
		client.stop();
		m.ends(client, life);
		m.note("wrong", String.join("; ", wrong));
		m.note("codes", String.join(" ", codes));
		m.note("unmade", Misfortune.code(() -> Direct.readParams(new Round(), 0, room(8))));
	}

	/**
	 * Natives do not trust the numbers that they get: another thread may have changed the buffer
	 * after it was looked at. Null if they refuse.
	 */
	private static String beyond(Round r) throws Exception {
		Method round = Direct.class.getDeclaredMethod("round", Round.class, long.class,
				ByteBuffer.class, int.class, int.class);
		round.setAccessible(true);
		ByteBuffer dst = ByteBuffer.allocateDirect(16);
		for (int[] range : new int[][] {{-4, 4}, {0, 20}, {16, 4}, {4, -4}, {4, Integer.MAX_VALUE}}) {
			try {
				return "read " + round.invoke(null, r, 0L, dst, range[0], range[1]) + " beyond the end";
			} catch (InvocationTargetException e) {
				String code = Mobile.errorCode(e.getCause().getMessage());
				if (!code.equals(Mobile.CodeConfig)) {
					return "beyond the end: " + e.getCause();
				}
			}
		}
		return null;
	}

	/** Threads that read into one buffer, while another one moves its position and its limit. */
	static void shared(Misfortune m) throws Exception {
		Set<String> codes = new ConcurrentSkipListSet<>();
		Config c = m.config();
		c.setBlockObjective(r -> {
			ByteBuffer dst = room(4 * (int) r.dim());
			AtomicBoolean over = new AtomicBoolean();
			Thread mover = new Thread(() -> {
				Random random = new Random(1);
				while (!over.get()) {
					dst.clear().limit(4 * random.nextInt(dst.capacity() / 4));
					dst.position(4 * random.nextInt(dst.limit() / 4 + 1));
				}
			});
			mover.start();
			Thread[] readers = new Thread[3];
			for (int i = 0; i < readers.length; i++) {
				readers[i] = new Thread(() -> {
					for (int n = 0; n < 300; n++) {
						codes.add(Misfortune.code(() -> Direct.readParams(r, 0, dst)));
					}
				});
				readers[i].start();
			}
			for (Thread t : readers) {
				t.join();
			}
			over.set(true);
			mover.join();
			return new Bowl(1).loss(r);
		});
		m.recovers(c, null);
		codes.removeAll(Arrays.asList("", Mobile.CodeConfig, Mobile.CodeRevoked));
		m.note("others", String.join(" ", codes));
	}

	private static ByteBuffer[] bad() {
		return new ByteBuffer[] {
			null,
			ByteBuffer.allocate(8).order(ByteOrder.nativeOrder()), // on the heap
			ByteBuffer.allocateDirect(8).asReadOnlyBuffer().order(ByteOrder.nativeOrder()),
			ByteBuffer.allocateDirect(8), // big-endian, as Java makes them
			room(7), // no whole parameters
		};
	}

	/** Parameters that begin at an odd address; null if they are those of an array. */
	private static String odd(Round r) throws Exception {
		byte[] want = new byte[8];
		r.readParams(0, want);
		ByteBuffer all = ByteBuffer.allocateDirect(16);
		all.position(3).limit(11);
		ByteBuffer dst = all.slice().order(ByteOrder.nativeOrder());
		Direct.readParams(r, 0, dst);
		byte[] got = new byte[8];
		dst.get(got);
		return Arrays.equals(want, got) ? null : "at an odd address " + Arrays.toString(got);
	}
}
