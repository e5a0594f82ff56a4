package org.zofl.android.system

import android.security.keystore.KeyGenParameterSpec
import android.security.keystore.KeyProperties
import java.security.KeyStore
import javax.crypto.KeyGenerator
import javax.crypto.SecretKey
import org.zofl.android.KeySource

/**
 * An AES key that never leaves the Android Keystore. It belongs to this installation:
 * a backup or a copied disk has the sealed file but not the key.
 */
class KeystoreKey(private val alias: String = "zofl-credentials") : KeySource {
    private val store: KeyStore by lazy { KeyStore.getInstance(PROVIDER).apply { load(null) } }

    @Synchronized
    override fun key(): SecretKey = store.getKey(alias, null) as SecretKey? ?: make()

    private fun make(): SecretKey {
        val spec = KeyGenParameterSpec.Builder(alias, KeyProperties.PURPOSE_ENCRYPT or KeyProperties.PURPOSE_DECRYPT)
            .setBlockModes(KeyProperties.BLOCK_MODE_GCM)
            .setEncryptionPaddings(KeyProperties.ENCRYPTION_PADDING_NONE)
            .setKeySize(256)
            .build() // no user authentication: training runs while nobody uses the phone
        return KeyGenerator.getInstance(KeyProperties.KEY_ALGORITHM_AES, PROVIDER).apply { init(spec) }.generateKey()
    }

    @Synchronized
    override fun forget() = store.deleteEntry(alias)

    private companion object {
        const val PROVIDER = "AndroidKeyStore"
    }
}
