import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import zofl.mobile.BlockObjective;
import zofl.mobile.Objective;
import zofl.mobile.Round;

/** A quadratic with a different minimum for each device, in both modes. */
final class Bowl implements Objective, BlockObjective {
	private final int shift;
	// For block mode: like the buffer of an app's engine, reused by every call.
	private final byte[] block = new byte[4 * 4096];
	private final FloatBuffer floats = view(block);

	Bowl(int shift) {
		this.shift = shift;
	}

	static FloatBuffer view(byte[] bytes) {
		return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
	}

	@Override
	public double loss(byte[] params) {
		FloatBuffer x = view(params);
		return sum(x, x.capacity(), 0) / x.capacity();
	}

	@Override
	public double loss(Round r) throws Exception {
		double sum = 0;
		long n;
		for (long off = 0; off < r.dim(); off += n) {
			n = r.readParams(off, block);
			sum += sum(floats, (int) n, (int) off);
		}
		return sum / r.dim();
	}

	private double sum(FloatBuffer x, int n, int off) {
		double sum = 0;
		for (int i = 0; i < n; i++) {
			double e = x.get(i) - (off + i + shift) % 5;
			sum += e * e;
		}
		return sum;
	}
}
