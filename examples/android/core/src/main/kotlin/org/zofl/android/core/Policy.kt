package org.zofl.android.core

/** What the owner of the phone allows. */
data class Limits(
    val unmeteredOnly: Boolean = true,
    val chargingOnly: Boolean = true,
    /** Percent of the battery below which nothing is done; does not count while charging. */
    val minBattery: Int = 30,
)

/** Whether this phone may train now. */
sealed interface Permit {
    data object Granted : Permit

    /** [reason] in words for the screen; [patience]: waiting helps. */
    data class Denied(val reason: String, val patience: Boolean = true) : Permit
}

/**
 * Decides whether to train. WorkManager starts work under much the same
 * constraints, but a phone is unplugged, warms up and changes networks while the
 * work goes on, and "train now" has no constraints but these.
 */
object Policy {
    /** Phones throttle from here on: training would take longer and be felt in the hand. */
    private val tooWarm = Thermal.MODERATE

    /** The limits of training that the user has asked for just now: the charger may be far. */
    fun byHand(limits: Limits) = limits.copy(chargingOnly = false)

    fun mayTrain(settings: Settings, limits: Limits, now: Conditions): Permit = when {
        !settings.optedIn -> Permit.Denied("not switched on", patience = false)
        settings.server.isBlank() || settings.run.isBlank() ->
            Permit.Denied("no server and run are set", patience = false)
        settings.halted != null -> Permit.Denied(settings.halted, patience = false)
        else -> phone(limits, now)
    }

    private fun phone(limits: Limits, now: Conditions): Permit = when {
        now.thermal >= tooWarm -> Permit.Denied("the phone is warm")
        now.power.saver -> Permit.Denied("power saving is on")
        !now.network.connected -> Permit.Denied("no network")
        now.dozing -> Permit.Denied("the phone sleeps")
        limits.unmeteredOnly && now.network.metered -> Permit.Denied("the network is metered")
        limits.chargingOnly && !now.power.charging -> Permit.Denied("not charging")
        !now.power.charging && now.power.percent < limits.minBattery ->
            Permit.Denied("battery at ${now.power.percent} %, below ${limits.minBattery} %")
        else -> Permit.Granted
    }
}
