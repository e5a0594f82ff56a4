package org.zofl.digits

/** Images of digits and their labels. They never leave the phone. */
class DigitSet(val pixels: FloatArray, val labels: ByteArray) {
    init {
        require(pixels.size == labels.size * Handwriting.PIXELS) {
            "${pixels.size} pixels for ${labels.size} labels: give ${Handwriting.PIXELS} for each label"
        }
    }

    val size: Int get() = labels.size

    companion object {
        /** [n] digits in the handwriting of [person], always the same. */
        fun written(n: Int, person: Long): DigitSet {
            val hand = Handwriting(person)
            val set = DigitSet(FloatArray(n * Handwriting.PIXELS), ByteArray(n))
            for (i in 0 until n) {
                set.labels[i] = hand.digit().toByte()
                hand.write(set.labels[i].toInt(), set.pixels, i * Handwriting.PIXELS)
            }
            return set
        }

        /** [n] digits of each of many people on whose digits nobody trains, for testing. */
        fun writtenByMany(n: Int, people: LongRange): DigitSet {
            val sets = people.map { written(n, it) }
            val pixels = FloatArray(sets.sumOf { it.pixels.size })
            val labels = ByteArray(sets.sumOf { it.size })
            var at = 0
            for (set in sets) {
                set.pixels.copyInto(pixels, at * Handwriting.PIXELS)
                set.labels.copyInto(labels, at)
                at += set.size
            }
            return DigitSet(pixels, labels)
        }
    }
}
