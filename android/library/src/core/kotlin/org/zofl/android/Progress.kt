package org.zofl.android

/** A device's progress, for a screen. Only the latest matters. */
data class Progress(
    val state: DeviceState = DeviceState.IDLE,
    /** Why it is in [state], as text; may be empty. */
    val reason: String = "",
    /** Last record that this device has applied, and last record of the run. */
    val record: Long = 0,
    val last: Long = 0,
    val round: Long = 0,
    /** Number of rounds this device has contributed to. */
    val contributions: Long = 0,
    /** Its last loss; null before the first. */
    val loss: Double? = null,
    val traffic: Traffic = Traffic(),
    /**
     * The latest fault that the device runs on with; null if there is none, or it is over. If
     * the app's loss threw, that is its cause.
     */
    val fault: ZoflException? = null,
)
