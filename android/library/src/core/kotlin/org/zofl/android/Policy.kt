package org.zofl.android

/** What the owner of the phone allows. */
data class Limits(
    val unmeteredOnly: Boolean = true,
    val chargingOnly: Boolean = true,
    /** Charge in percent below which the phone does not train, unless it is charging. */
    val minBattery: Int = 30,
)

/** Whether this phone may train now. */
sealed interface Permit {
    data object Granted : Permit

    /** [reason]: text for the screen. [patience]: whether waiting helps. */
    data class Denied(val reason: String, val patience: Boolean = true) : Permit
}

/**
 * Decides whether to train. WorkManager starts work under similar constraints, but a
 * phone may be unplugged, warm up or change networks during the work, and "train now"
 * has no other constraints than these.
 */
object Policy {
    /** From this step on phones throttle: training takes longer, and the user feels the heat. */
    private val tooWarm = Thermal.MODERATE

    /** The limits for training that the user has just asked for: it needs no charger. */
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
