package zofl.mobile;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Reads parameters into direct buffers, in place: what an engine takes as an input without another
 * copy. Each method does what the method of that name does with an array. It fills dst from its
 * position to its limit, and moves neither.
 *
 * <p>dst comes from {@link ByteBuffer#allocateDirect}, and has the order of the machine's bytes:
 * {@code order(ByteOrder.nativeOrder())}. It may be any part of such a buffer, best one that begins
 * at a multiple of 4 bytes. A buffer that cannot be used is an exception with the code "config". A
 * buffer of a mapped file is not for this: if something cuts the file off, the process ends.
 *
 * <p>glue.sh adds this class to those that gobind generates.
 */
public final class Direct {
	private Direct() {}

	public static long readParams(Round from, long off, ByteBuffer dst) throws Exception {
		return round(made(from), off, ordered(dst), dst.position(), dst.remaining());
	}

	public static long readHalf(Round from, long off, ByteBuffer dst) throws Exception {
		return roundHalf(made(from), off, ordered(dst), dst.position(), dst.remaining());
	}

	public static long readInt8(Round from, long off, double scale, ByteBuffer dst)
			throws Exception {
		return roundInt8(made(from), off, scale, direct(dst), dst.position(), dst.remaining());
	}

	public static long readParams(Evaluation from, long off, ByteBuffer dst) throws Exception {
		return evaluation(made(from), off, ordered(dst), dst.position(), dst.remaining());
	}

	public static long readHalf(Evaluation from, long off, ByteBuffer dst) throws Exception {
		return evaluationHalf(made(from), off, ordered(dst), dst.position(), dst.remaining());
	}

	public static long readInt8(Evaluation from, long off, double scale, ByteBuffer dst)
			throws Exception {
		return evaluationInt8(made(from), off, scale, direct(dst), dst.position(), dst.remaining());
	}

	public static long readParams(Probes from, long probe, long off, ByteBuffer dst)
			throws Exception {
		return probe(made(from), probe, off, ordered(dst), dst.position(), dst.remaining());
	}

	public static long readHalf(Probes from, long probe, long off, ByteBuffer dst)
			throws Exception {
		return probeHalf(made(from), probe, off, ordered(dst), dst.position(), dst.remaining());
	}

	public static long readInt8(Probes from, long probe, long off, double scale, ByteBuffer dst)
			throws Exception {
		return probeInt8(made(from), probe, off, scale, direct(dst), dst.position(), dst.remaining());
	}

	public static long readAll(Probes from, long off, long count, ByteBuffer dst) throws Exception {
		return all(made(from), off, count, ordered(dst), dst.position(), dst.remaining());
	}

	private static <T> T made(T from) throws Exception {
		if (from == null) {
			throw config("from is null: give what the callback got");
		}
		return from;
	}

	private static ByteBuffer direct(ByteBuffer dst) throws Exception {
		if (dst == null || !dst.isDirect() || dst.isReadOnly()) {
			throw config("dst = " + dst + ": give a direct buffer that can be written, "
					+ "ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder())");
		}
		return dst;
	}

	/** A buffer whose numbers an app reads as they are written. */
	private static ByteBuffer ordered(ByteBuffer dst) throws Exception {
		if (direct(dst).order() != ByteOrder.LITTLE_ENDIAN) {
			throw config("dst has the order " + dst.order() + ", and parameters are written as "
					+ ByteOrder.LITTLE_ENDIAN + ": call dst.order(ByteOrder.nativeOrder())");
		}
		return dst;
	}

	private static Exception config(String text) {
		return new Exception(Mobile.CodeConfig + ": " + text);
	}

	// Natives write bytes at, at+1, ... of dst, and see for themselves that it has so many.

	private static native long round(Round from, long off, ByteBuffer dst, int at, int bytes)
			throws Exception;

	private static native long roundHalf(Round from, long off, ByteBuffer dst, int at, int bytes)
			throws Exception;

	private static native long roundInt8(Round from, long off, double scale, ByteBuffer dst, int at,
			int bytes) throws Exception;

	private static native long evaluation(Evaluation from, long off, ByteBuffer dst, int at,
			int bytes) throws Exception;

	private static native long evaluationHalf(Evaluation from, long off, ByteBuffer dst, int at,
			int bytes) throws Exception;

	private static native long evaluationInt8(Evaluation from, long off, double scale,
			ByteBuffer dst, int at, int bytes) throws Exception;

	private static native long probe(Probes from, long probe, long off, ByteBuffer dst, int at,
			int bytes) throws Exception;

	private static native long probeHalf(Probes from, long probe, long off, ByteBuffer dst, int at,
			int bytes) throws Exception;

	private static native long probeInt8(Probes from, long probe, long off, double scale,
			ByteBuffer dst, int at, int bytes) throws Exception;

	private static native long all(Probes from, long off, long count, ByteBuffer dst, int at,
			int bytes) throws Exception;
}
