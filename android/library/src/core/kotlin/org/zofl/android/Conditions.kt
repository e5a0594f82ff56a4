package org.zofl.android

import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.StateFlow
import kotlinx.coroutines.flow.asStateFlow
import kotlinx.coroutines.flow.update

/** The network that the system would use. */
data class Network(
    val connected: Boolean = false,
    val metered: Boolean = true,
    /** Differs between networks; a new network needs a new connection. 0 for none. */
    val id: Long = 0,
)

/** The battery and what the system asks of apps. */
data class Power(
    val charging: Boolean = false,
    /** Charge of the battery, 0 to 100. */
    val percent: Int = 0,
    /** The user has asked for power saving. */
    val saver: Boolean = false,
)

/** How warm the phone is, in the system's steps, from PowerManager.THERMAL_STATUS_NONE on. */
enum class Thermal { NONE, LIGHT, MODERATE, SEVERE, CRITICAL, EMERGENCY, SHUTDOWN }

/** The phone's state, as far as it matters for training. The defaults, before the system's first report, forbid it. */
data class Conditions(
    val network: Network = Network(),
    val power: Power = Power(),
    val thermal: Thermal = Thermal.NONE,
    /** Doze: the system withholds the network. */
    val dozing: Boolean = false,
)

/** Collects the reports of the app's watchers. Thread-safe. */
class ConditionsHub {
    private val latest = MutableStateFlow(Conditions())
    val conditions: StateFlow<Conditions> = latest.asStateFlow()

    fun network(now: Network) = latest.update { it.copy(network = now) }

    fun power(now: Power) = latest.update { it.copy(power = now) }

    /** [status] is PowerManager's; a status that it may add later counts as the warmest. */
    fun thermal(status: Int) {
        val steps = Thermal.entries
        latest.update { it.copy(thermal = steps[status.coerceIn(0, steps.size - 1)]) }
    }

    fun dozing(now: Boolean) = latest.update { it.copy(dozing = now) }
}
