package org.zofl.digits.app

import org.zofl.android.DeviceState

/** The label of a state. */
fun labelOf(state: DeviceState): Int = when (state) {
    DeviceState.IDLE -> R.string.state_idle
    DeviceState.OFFLINE -> R.string.state_offline
    DeviceState.JOINING -> R.string.state_joining
    DeviceState.CATCHING_UP -> R.string.state_catching_up
    DeviceState.WAITING -> R.string.state_waiting
    DeviceState.WORKING -> R.string.state_working
    DeviceState.PAUSED -> R.string.state_paused
    DeviceState.ENDED -> R.string.state_ended
    DeviceState.STOPPED -> R.string.state_stopped
}
