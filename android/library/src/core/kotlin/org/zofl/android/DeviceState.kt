package org.zofl.android

/** What a device is doing. The codes are the binding's. */
enum class DeviceState(val code: Int) {
    IDLE(0),
    OFFLINE(1),
    JOINING(2),
    CATCHING_UP(3),
    WAITING(4),
    WORKING(5),
    PAUSED(6),
    ENDED(7),
    STOPPED(8);

    companion object {
        /** A code that this version does not know becomes [IDLE], so that an older app keeps working. */
        fun of(code: Int): DeviceState = entries.firstOrNull { it.code == code } ?: IDLE
    }
}
