// AGP 9 compiles Kotlin itself, so the library needs no Kotlin plugin.
plugins {
    alias(libs.plugins.android.library) apply false
}
