package org.zofl.digits

import kotlin.math.PI
import kotlin.math.ceil
import kotlin.math.cos
import kotlin.math.sin

/** A point in a digit's unit box: x to the right, y down. */
internal data class Point(val x: Double, val y: Double)

/** What a pen draws without being lifted: straight lines between points. */
internal typealias Stroke = List<Point>

private fun line(vararg xy: Double): Stroke = List(xy.size / 2) { Point(xy[2 * it], xy[2 * it + 1]) }

/** Part of an ellipse, [from] and [to] in quarter turns: 0 is right, 1 is down. */
private fun arc(x: Double, y: Double, rx: Double, ry: Double, from: Double, to: Double): Stroke {
    val pieces = ceil(kotlin.math.abs(to - from) * 5).toInt()
    return List(pieces + 1) {
        val angle = (from + (to - from) * it / pieces) * PI / 2
        Point(x + rx * cos(angle), y + ry * sin(angle))
    }
}

private fun ring(x: Double, y: Double, rx: Double, ry: Double) = arc(x, y, rx, ry, 0.0, 4.0)

/** The ways to write each digit. */
internal val glyphs: List<List<List<Stroke>>> = listOf(
    listOf(listOf(ring(.5, .5, .36, .5)), listOf(ring(.5, .5, .26, .48))),
    listOf(listOf(line(.5, .0, .5, 1.0)), listOf(line(.28, .25, .55, .0, .55, 1.0))),
    listOf(
        listOf(arc(.5, .27, .32, .27, -2.0, .3) + line(.15, 1.0, .86, 1.0)),
        listOf(line(.18, .05, .6, .02, .8, .25, .7, .5, .15, .98, .85, .96)),
    ),
    listOf(
        listOf(arc(.45, .25, .33, .25, -1.8, 1.0) + arc(.45, .74, .37, .26, -1.0, 1.8)),
        listOf(line(.2, .02, .78, .02, .45, .4) + arc(.45, .7, .35, .3, -1.0, 1.7)),
    ),
    listOf(
        listOf(line(.65, .0, .1, .65, .92, .65), line(.65, .0, .65, 1.0)),
        listOf(line(.2, .0, .15, .52, .85, .52), line(.75, .05, .7, 1.0)),
    ),
    listOf(
        listOf(line(.82, .02, .25, .02, .22, .45) + arc(.48, .68, .34, .31, -1.2, 1.7)),
        listOf(line(.28, .03, .24, .42, .5, .4) + arc(.46, .69, .33, .3, -1.0, 1.6), line(.28, .03, .8, .0)),
    ),
    listOf(
        listOf(line(.7, .02, .35, .25, .2, .65), ring(.5, .72, .31, .27)),
        listOf(line(.5, .0, .28, .35, .2, .7) + arc(.48, .74, .28, .25, -2.0, 2.0)),
    ),
    listOf(
        listOf(line(.12, .04, .86, .04, .42, 1.0)),
        listOf(line(.14, .04, .84, .04, .45, 1.0), line(.3, .5, .78, .5)),
    ),
    listOf(
        listOf(ring(.5, .25, .27, .25), ring(.5, .74, .33, .26)),
        listOf(ring(.5, .27, .24, .24), ring(.48, .75, .28, .25)),
    ),
    listOf(
        listOf(ring(.5, .28, .3, .27), line(.8, .3, .72, 1.0)),
        listOf(ring(.48, .27, .29, .26) + line(.77, .27, .72, .7, .45, 1.0, .22, .93)),
    ),
)
