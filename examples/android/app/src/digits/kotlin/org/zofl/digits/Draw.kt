package org.zofl.digits

/** Random numbers that are the same on every phone for a seed: SplitMix64. */
internal class Draw(private var state: Long) {
    fun long(): Long {
        state += -0x61c8864680b583eb
        var z = state
        z = (z xor (z ushr 30)) * -0x40a7b892e31b1a47
        z = (z xor (z ushr 27)) * -0x6b2fb644ecceee15
        return z xor (z ushr 31)
    }

    /** Uniform in 0 until [n]; the bias of n/2^32 does not matter here. */
    fun int(n: Int): Int = ((long() ushr 32) * n ushr 32).toInt()

    /** Uniform in [lo, hi). */
    fun uniform(lo: Double, hi: Double): Double = lo + (hi - lo) * ((long() ushr 11) * (1.0 / (1L shl 53)))

    /** Around 0, within [limit]: the mean of three uniform numbers. */
    fun bell(limit: Double): Double = (uniform(-limit, limit) + uniform(-limit, limit) + uniform(-limit, limit)) / 3
}
