// Package disktest simulates, in memory, a disk whose power can be cut. It serves tests of programs
// that must survive that, and simulations.
//
// A [Disk] is a [disk.FS] that knows which of its content is durable.
// [Disk.States] enumerates the states that a power cut could leave, [Disk.Crash]
// draws one of them, and [Crashes] cuts the power after every change that a program
// makes.
//
// # States after a power cut
//
// These decisions are independent, so every combination is possible:
//
//   - Of a file, the bytes at its last Sync are kept. Of each later write, each
//     sector of 512 bytes is kept, missing, or, beyond the end that the file had at
//     that Sync, zeros. A later Truncate is kept or lost. The file may end at any
//     byte beyond that end.
//   - For names in a folder that no SyncDir covers yet, each creation and removal is kept or lost,
//     and each renaming is kept, lost, or leaves both names.
//   - After a failed Sync, the bytes that it should have stored may be on the disk or
//     not, whatever later Syncs return, until they are overwritten or cut off. After
//     a failed SyncDir, the next successful one stores the names.
//   - Locks and open files are gone.
//
// A process that dies loses only its locks and open files ([Disk.Kill]).
//
// # Determinism
//
// The same calls with the same seeds give the same states.
package disktest
