import java.util.Arrays;
import zofl.crossing.Crossing;
import zofl.crossing.Source;
import zofl.mobile.Objective;

/**
 * Prints the cost of calls between Go and Java: the median of rounds in which all kinds are
 * measured in turn, and the fastest and the slowest.
 */
public final class Bench {
	private static final int ROUNDS = 9;
	private static final long BYTES = 64 << 20; // that a measurement moves, at most
	private static final long CALLS = 50_000; // that it makes, at most

	private interface Calls {
		/** Makes a number of calls and returns the nanoseconds they took. */
		long make(long calls) throws Exception;
	}

	private static final class Row {
		final String name;
		final int bytes;
		final Calls calls;
		final double[] each = new double[ROUNDS];

		Row(String name, int bytes, Calls calls) {
			this.name = name;
			this.bytes = bytes;
			this.calls = calls;
		}

		void measure(int round) throws Exception {
			long n = Math.max(4, Math.min(CALLS, BYTES / Math.max(1, bytes)));
			calls.make(n / 4); // warm
			each[round] = (double) calls.make(n) / n;
		}

		void print() {
			Arrays.sort(each);
			double median = each[ROUNDS / 2];
			String speed = bytes < 1024 ? "" : String.format("%.1f GB/s", bytes / median);
			System.out.printf("%-44s %10.0f ns %10.0f %10.0f  %s%n", name, median, each[0], each[ROUNDS - 1], speed);
		}
	}

	/** Go calls a loss with a number of bytes. */
	private static Row whole(String name, int bytes) {
		Objective nothing = params -> 0;
		return new Row(name, bytes, n -> Crossing.whole(nothing, bytes, n));
	}

	/** Java copies a number of bytes from Go into its own array. */
	private static Row blocks(String name, int bytes) {
		Source source = new Source(bytes);
		byte[] block = new byte[bytes];
		return new Row(name, bytes, n -> {
			long began = System.nanoTime();
			for (long i = 0; i < n; i++) {
				source.read(0, block);
			}
			return System.nanoTime() - began;
		});
	}

	private static Row nothing() {
		Source source = new Source(1);
		return new Row("Java to Go, nothing", 0, n -> {
			long began = System.nanoTime();
			for (long i = 0; i < n; i++) {
				source.nothing();
			}
			return System.nanoTime() - began;
		});
	}

	public static void main(String[] args) throws Exception {
		Row[] rows = {
			nothing(),
			whole("loss(byte[]) of 1 parameter", 4),
			whole("loss(byte[]) of 1,024 parameters", 4 << 10),
			whole("loss(byte[]) of 1,048,576 parameters", 4 << 20),
			blocks("readParams of 1,024 parameters", 4 << 10),
			blocks("readParams of 4,096 parameters", 16 << 10),
			blocks("readParams of 16,384 parameters", 64 << 10),
			blocks("readParams of 1,048,576 parameters", 4 << 20),
		};
		for (int round = 0; round < ROUNDS; round++) {
			for (Row row : rows) {
				row.measure(round);
			}
		}
		System.out.printf("%-44s %13s %10s %10s%n", "", "median", "fastest", "slowest");
		for (Row row : rows) {
			row.print();
		}
		System.exit(0); // Go's threads would keep the JVM alive
	}
}
