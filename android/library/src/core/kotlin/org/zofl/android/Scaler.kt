package org.zofl.android

/**
 * Gives each column of a row mean 0 and standard deviation 1 over the data of all devices. All
 * devices of a run have the same.
 */
class Scaler(private val mean: DoubleArray, private val std: DoubleArray) {
    init {
        require(mean.size == std.size) { "${mean.size} means and ${std.size} standard deviations" }
    }

    /** Number of columns. */
    val columns get() = mean.size

    /**
     * Scales a row in place. A missing value, NaN or infinite, becomes 0, which is the mean. So does
     * each value of a column that is the same on all devices.
     */
    fun apply(row: FloatArray) {
        require(row.size == columns) { "a row of ${row.size} columns: the scale is of $columns" }
        for (i in row.indices) row[i] = scaled(i, row[i].toDouble()).toFloat()
    }

    private fun scaled(column: Int, value: Double) = when {
        !value.isFinite() || std[column] <= LEVEL * kotlin.math.abs(mean[column]) -> 0.0
        else -> (value - mean[column]) / std[column]
    }

    private companion object {
        /** The spread of equal values, in magnitudes of their mean, that rounding may cause. */
        const val LEVEL = 1e-12
    }
}
