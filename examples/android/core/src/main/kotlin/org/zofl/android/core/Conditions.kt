package org.zofl.android.core

import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.StateFlow
import kotlinx.coroutines.flow.asStateFlow
import kotlinx.coroutines.flow.update

/** The network that the system would use. */
data class Network(
    val connected: Boolean = false,
    val metered: Boolean = true,
    /** Differs between networks: another one means another connection. 0 for none. */
    val id: Long = 0,
)

/** The battery and what the system asks of apps. */
data class Power(
    val charging: Boolean = false,
    /** Of the battery, 0 to 100. */
    val percent: Int = 0,
    /** The user has asked for power saving. */
    val saver: Boolean = false,
)

/** How warm the phone is, in the system's steps: PowerManager.THERMAL_STATUS_NONE and on. */
enum class Thermal { NONE, LIGHT, MODERATE, SEVERE, CRITICAL, EMERGENCY, SHUTDOWN }

/** What the phone's state says about training now. Before the first word from the system: nothing does. */
data class Conditions(
    val network: Network = Network(),
    val power: Power = Power(),
    val thermal: Thermal = Thermal.NONE,
    /** Doze: the system withholds the network. */
    val dozing: Boolean = false,
)

/** Where the app's watchers of the system meet. Any thread. */
class ConditionsHub {
    private val latest = MutableStateFlow(Conditions())
    val conditions: StateFlow<Conditions> = latest.asStateFlow()

    fun network(now: Network) = latest.update { it.copy(network = now) }

    fun power(now: Power) = latest.update { it.copy(power = now) }

    /** [status] as PowerManager tells it; what it may add later counts as the warmest known. */
    fun thermal(status: Int) {
        val steps = Thermal.entries
        latest.update { it.copy(thermal = steps[status.coerceIn(0, steps.size - 1)]) }
    }

    fun dozing(now: Boolean) = latest.update { it.copy(dozing = now) }
}
