import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.Arrays;
import zofl.mobile.Config;
import zofl.mobile.Direct;
import zofl.mobile.Mobile;
import zofl.mobile.Probes;

/**
 * Prints what it costs to get parameters into a direct buffer, by arrays and in place:
 * <code>Buffers URL DIM</code>. It takes part in the run "buffers", measures in its first step, and
 * ends.
 */
public final class Buffers {
	private static final int ROUNDS = 9;
	private static final int BLOCK = 4096;

	private interface Read {
		void all() throws Exception;
	}

	private final Probes probes;
	private final int dim, count;
	private final ByteBuffer direct;
	private final FloatBuffer floats;

	private Buffers(Probes probes) {
		this.probes = probes;
		dim = (int) probes.dim();
		count = (int) probes.count();
		direct = ByteBuffer.allocateDirect(4 * dim * count).order(ByteOrder.nativeOrder());
		floats = direct.asFloatBuffer();
	}

	/** Blocks of the model arrive in an array, and are put into the buffer. */
	private void oneByArrays() throws Exception {
		byte[] block = new byte[4 * BLOCK];
		FloatBuffer from = ByteBuffer.wrap(block).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
		floats.clear();
		for (int off = 0; off < dim; off += BLOCK) {
			int n = (int) probes.readParams(0, off, block);
			from.position(0).limit(n);
			floats.put(from);
		}
	}

	private void oneInPlace() throws Exception {
		direct.limit(4 * dim);
		Direct.readParams(probes, 0, 0, direct);
	}

	/** Blocks of all points arrive in an array, and are put into the buffer. */
	private void allByArrays() throws Exception {
		byte[] block = new byte[4 * BLOCK * count];
		FloatBuffer from = ByteBuffer.wrap(block).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
		floats.clear();
		for (int off = 0; off < dim; off += BLOCK) {
			int n = (int) probes.readAll(off, BLOCK, block);
			for (int i = 0; i < count; i++) {
				from.limit(i * BLOCK + n).position(i * BLOCK);
				floats.position(i * dim + off);
				floats.put(from);
			}
		}
	}

	private void allInPlace() throws Exception {
		direct.clear();
		Direct.readAll(probes, 0, dim, direct);
	}

	private void measure() throws Exception {
		String[] names = {
			"the model, by arrays of 4,096", "the model, in place",
			"all " + count + " points, by arrays of 4,096", "all " + count + " points, in place",
		};
		Read[] reads = {this::oneByArrays, this::oneInPlace, this::allByArrays, this::allInPlace};
		double[][] each = new double[reads.length][ROUNDS];
		for (int round = -1; round < ROUNDS; round++) { // the first one warms up
			for (int i = 0; i < reads.length; i++) {
				long began = System.nanoTime();
				reads[i].all();
				each[i][Math.max(0, round)] = System.nanoTime() - began;
			}
		}
		for (int i = 0; i < reads.length; i++) {
			Arrays.sort(each[i]);
			System.out.printf("%,d parameters: %-32s %14.0f ns %14.0f%n", dim, names[i],
					each[i][ROUNDS / 2], each[i][0]);
		}
	}

	public static void main(String[] args) throws Exception {
		Config config = Mobile.newConfig();
		config.setRun("buffers");
		config.setDevice("java");
		config.setDim(Integer.parseInt(args[1]));
		config.addServer(args[0]);
		config.setPlaintext(true);
		config.setBatchObjective(probes -> {
			int code = 1;
			try {
				new Buffers(probes).measure();
				code = 0;
			} catch (Throwable e) {
				e.printStackTrace();
			}
			System.exit(code); // Go's threads would keep the JVM alive
		});
		Mobile.newClient(config).run();
	}
}
