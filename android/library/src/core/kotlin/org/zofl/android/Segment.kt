package org.zofl.android

/** Consecutive parameters that the plan names, such as a layer's weights. */
data class Segment(
    val name: String,
    /** Number of its first parameter. */
    val offset: Int,
    /** How many parameters it has. */
    val length: Int,
)

/** The first segment of a name. Throws IllegalArgumentException, with the names that there are, if it is missing. */
fun List<Segment>.named(name: String): Segment =
    requireNotNull(firstOrNull { it.name == name }) { "segment \"$name\": the plan has ${map { it.name }}" }
