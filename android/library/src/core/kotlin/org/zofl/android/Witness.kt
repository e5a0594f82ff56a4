package org.zofl.android

import java.util.concurrent.atomic.AtomicReference
import java.util.logging.Level
import java.util.logging.Logger

/**
 * Sees what the app's callbacks throw, errors such as StackOverflowError included, before it
 * crosses native code, which keeps a text of it at most. It logs what differs from the last
 * one, because a loss that always throws does so every round.
 */
internal class Witness(private val log: Logger = Logger.getLogger("Zofl")) {
    private val thrown = AtomicReference<Throwable>()
    private var logged = ""

    /** What a loss threw last, once; null for nothing. */
    fun last(): Throwable? = thrown.getAndSet(null)

    fun watch(objective: Objective): Objective = when (objective) {
        is Loss -> Loss { round -> watching("the loss", thrown::set) { objective.loss(round) } }
        is BatchLoss -> BatchLoss { step -> watching("the loss", thrown::set) { objective.losses(step) } }
    }

    fun watch(evaluator: Evaluator): Evaluator =
        Evaluator { evaluation -> watching("the evaluator", {}) { evaluator.evaluate(evaluation) } }

    private inline fun <T> watching(what: String, keep: (Throwable) -> Unit, call: () -> T): T =
        try {
            call()
        } catch (e: Throwable) {
            keep(e)
            tell(what, e)
            throw e
        }

    @Synchronized
    private fun tell(what: String, e: Throwable) {
        val line = "$what threw $e"
        if (line == logged) return
        logged = line
        log.log(Level.WARNING, line, e)
    }
}
