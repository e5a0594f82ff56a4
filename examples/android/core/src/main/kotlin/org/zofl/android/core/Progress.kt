package org.zofl.android.core

/** How far a device is: what a screen shows. Only the latest is ever of interest. */
data class Progress(
    val state: DeviceState = DeviceState.IDLE,
    /** Why it is in [state], in words; empty if there is nothing to say. */
    val reason: String = "",
    /** Records of the run that this device has applied, and that there are. */
    val record: Long = 0,
    val last: Long = 0,
    val round: Long = 0,
    /** Rounds this device has contributed to. */
    val contributions: Long = 0,
    /** Its last loss; null before the first. */
    val loss: Double? = null,
    val traffic: Traffic = Traffic(),
    /** What last went wrong while it ran on; null if nothing did, or it is over. */
    val fault: ZoflException? = null,
)
