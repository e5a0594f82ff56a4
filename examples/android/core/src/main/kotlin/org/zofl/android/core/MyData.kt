package org.zofl.android.core

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
    /** Opts out, stops, then deletes; the name of the device goes too. Throws IOException if a file stays. */
    suspend fun delete() {
        settings.update { it.copy(optedIn = false) } // nothing starts again meanwhile
        stopTraining()
        vault.clear()
        state.delete()
        model.delete()
        settings.update { Settings() }
    }
}
