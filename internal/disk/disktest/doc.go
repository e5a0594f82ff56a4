// Package disktest is a disk in memory whose power can be cut: for tests of
// what must survive that, and for simulations.
//
// A [Disk] is a [disk.FS] that knows what of it is durable. [Disk.States]
// enumerates what a power cut could leave of it, [Disk.Crash] draws one such
// state, and [Crashes] cuts the power after every change that a program makes.
//
// # What a power cut leaves
//
// Each of these is decided by itself, so every combination is possible:
//
//   - A file's bytes as of its last Sync stay. Of each later write, each sector
//     of 512 bytes is kept, missing, or, beyond the end that the file had at that
//     Sync, zeros; a later Truncate is kept or lost. The file may end at any byte
//     beyond that end.
//   - Of the names in a folder that are not yet covered by SyncDir, each
//     creation and removal is kept or lost, and each renaming is kept, lost, or
//     leaves both names.
//   - After a Sync that failed, what it was to store may be on the disk or not,
//     whatever later Syncs return, until it is overwritten or cut off. After a
//     SyncDir that failed, the next one that does not stores the names.
//   - Locks and open files are gone.
//
// A process that dies loses only its locks and open files ([Disk.Kill]).
//
// # Determinism
//
// The same calls with the same seeds give the same states.
package disktest
