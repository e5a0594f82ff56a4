package org.zofl.android

import java.io.IOException

/**
 * "Delete my data": everything this app stores about its user. Numbers that were sent
 * are part of sums with others' numbers and cannot be withdrawn.
 */
class MyData(
    private val settings: SettingsStore,
    private val vault: CredentialVault,
    private val state: StateFolder,
    private val model: ModelFile,
    /** Ends all training, scheduled or not, and waits until it has ended. */
    private val stopTraining: suspend () -> Unit,
) {
    /**
     * Opts out, stops training, then deletes everything, the device's name too. If
     * something cannot be deleted it deletes the rest, then throws the first IOException.
     */
    suspend fun delete() {
        // So nothing starts again meanwhile, and resume finishes the job if the process dies.
        failureOf { settings.update { it.copy(optedIn = false, deleting = true) } } // a full disk: deleting makes room
        stopTraining()
        val left = listOf(vault::clear, state::delete, model::delete).mapNotNull { failureOf(it) }
        val reset = failureOf { settings.update { Settings(deleting = left.isNotEmpty()) } }
        (left + listOfNotNull(reset)).firstOrNull()?.let { throw it }
    }

    /**
     * Finishes a deletion that is not done. Call it when a process starts, before training,
     * and when the user returns, so that new data is not deleted with the old.
     */
    suspend fun resume() {
        if (settings.settings.value.deleting) delete()
    }

    /** Opts in, after finishing a deletion that is not done. Throws IOException if that fails. */
    suspend fun optIn() {
        resume()
        settings.update { it.optIn() }
    }

    private inline fun failureOf(deletion: () -> Unit): IOException? =
        try {
            deletion()
            null
        } catch (e: IOException) {
            e
        }
}
