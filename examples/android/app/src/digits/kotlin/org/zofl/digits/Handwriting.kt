package org.zofl.digits

import kotlin.math.hypot
import kotlin.math.max
import kotlin.math.min

/**
 * One person's handwriting, with its own slant, width and pressure, so that phones have
 * different data. It replaces the digits that a user would write and label; your own app
 * has real data. The same [person] always writes the same digits.
 */
class Handwriting(person: Long) {
    private val draw = Draw(person)
    private val slant = draw.bell(.5)
    private val width = draw.uniform(.6, .95)
    private val pen = draw.uniform(.5, 1.0)

    /** Writes a digit into [into], SIDE rows of SIDE pixels from 0 (paper) to 1 (ink). */
    fun write(digit: Int, into: FloatArray, offset: Int) {
        into.fill(0f, offset, offset + PIXELS)
        val styles = glyphs[digit]
        val place = Place()
        for (stroke in styles[draw.int(styles.size)]) {
            val shaken = stroke.map { place.of(Point(it.x + draw.bell(.06), it.y + draw.bell(.06))) }
            for (i in 1 until shaken.size) segment(shaken[i - 1], shaken[i], into, offset)
        }
    }

    fun digit(): Int = draw.int(glyphs.size)

    /** The placement of a digit: from its unit box to pixels. */
    private inner class Place {
        private val height = draw.uniform(.68, .85) * SIDE
        private val breadth = height * width * draw.uniform(.85, 1.1)
        private val lean = slant + draw.bell(.25)
        private val x = (SIDE - 1) / 2.0 + draw.bell(1.2)
        private val y = (SIDE - 1) / 2.0 + draw.bell(1.2)

        fun of(p: Point): Point {
            val down = (p.y - .5) * height
            return Point(x + (p.x - .5) * breadth - lean * down, y + down)
        }
    }

    /** Draws a straight piece with round ends and soft edges. */
    private fun segment(a: Point, b: Point, into: FloatArray, offset: Int) {
        val dx = b.x - a.x
        val dy = b.y - a.y
        val square = max(dx * dx + dy * dy, 1e-12)
        val reach = pen + .5
        for (row in rows(min(a.y, b.y) - reach, max(a.y, b.y) + reach)) {
            for (column in rows(min(a.x, b.x) - reach, max(a.x, b.x) + reach)) {
                val t = (((column - a.x) * dx + (row - a.y) * dy) / square).coerceIn(0.0, 1.0)
                val distance = hypot(column - a.x - t * dx, row - a.y - t * dy)
                val ink = (reach - distance).coerceIn(0.0, 1.0).toFloat()
                val i = offset + row * SIDE + column
                into[i] = max(into[i], ink)
            }
        }
    }

    private fun rows(lo: Double, hi: Double) = max(lo.toInt(), 0)..min(hi.toInt() + 1, SIDE - 1)

    companion object {
        /** Rows and columns of a digit's image. */
        const val SIDE = 14
        const val PIXELS = SIDE * SIDE
    }
}
