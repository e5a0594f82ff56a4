package org.zofl.android.core

import java.io.IOException

/**
 * "Delete my data": everything this app keeps about its user. What was sent has
 * gone into sums with others' numbers and cannot be called back.
 */
class MyData(
    private val settings: SettingsStore,
    private val vault: CredentialVault,
    private val state: StateFolder,
    private val model: ModelFile,
    /** Ends all training, scheduled or not, and waits for its end. */
    private val stopTraining: suspend () -> Unit,
) {
    /**
     * Opts out, stops, then deletes; the name of the device goes too. Throws the
     * first IOException if something stays, and has deleted the rest by then.
     */
    suspend fun delete() {
        // Nothing starts again meanwhile, and a process that dies on the way is followed by resume.
        failureOf { settings.update { it.copy(optedIn = false, deleting = true) } } // deleting makes room
        stopTraining()
        val left = listOf(vault::clear, state::delete, model::delete).mapNotNull { failureOf(it) }
        val reset = failureOf { settings.update { Settings(deleting = left.isNotEmpty()) } }
        (left + listOfNotNull(reset)).firstOrNull()?.let { throw it }
    }

    /**
     * Ends a deletion that is not done. For the start of a process, before training,
     * and for when the user comes back: what they give then must not go with the rest.
     */
    suspend fun resume() {
        if (settings.settings.value.deleting) delete()
    }

    /** Opts in, as someone new if a deletion was not done. Throws IOException if something of it stays. */
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
