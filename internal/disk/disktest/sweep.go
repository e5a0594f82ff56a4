package disktest

import "iter"

// Crashes calls run repeatedly with an empty disk. In call n, the power goes off after n changes,
// for n = 0, 1, ..., until run makes fewer changes. After each call, Crashes yields every state
// that the power cut may leave. run must do the same in each call, as far as the disk allows.
func Crashes(run func(*Disk)) iter.Seq[*Disk] {
	return func(yield func(*Disk) bool) {
		for n := 0; ; n++ {
			d := New()
			d.CutAfter(n)
			run(d)
			for state := range d.States() {
				if !yield(state) {
					return
				}
			}
			if !d.Off() {
				return
			}
		}
	}
}

// Faults calls run repeatedly with an empty disk. In the first call of run, the first operation
// fails with err; in the second call, the second operation; in the last call, none. After each
// call, Faults yields the disk.
func Faults(err error, run func(*Disk)) iter.Seq[*Disk] {
	return func(yield func(*Disk) bool) {
		for n := 0; ; n++ {
			d := New()
			d.Fail(n, 1, err)
			run(d)
			last := d.Failing()
			if !yield(d) || last {
				return
			}
		}
	}
}
