package org.zofl.digits

/**
 * The samples that a round's seed determines. Losses are compared with each other, so the
 * same seed must always give the same samples.
 */
class Minibatch {
    private var indices = IntArray(0)

    /** How many of [indices] are used. */
    var size = 0
        private set

    operator fun get(i: Int): Int = indices[i]

    /**
     * Draws [count] of [total] samples, with replacement. With 0, or [total] or more, it
     * takes each sample once.
     */
    fun draw(count: Int, seed: Long, total: Int): Minibatch {
        val all = count <= 0 || count >= total
        size = if (all) total else count
        if (indices.size < size) indices = IntArray(size)
        val draw = Draw(seed)
        for (i in 0 until size) indices[i] = if (all) i else draw.int(total)
        return this
    }
}
