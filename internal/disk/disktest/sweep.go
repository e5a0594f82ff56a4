package disktest

import "iter"

// Crashes calls run repeatedly with an empty disk. The power goes off after no change, after one
// change, and so on, until run makes no more changes. Each time it yields every state that this may
// leave. Run must do the same each time, as far as the disk allows.
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

// Faults calls run repeatedly with an empty disk. First the first operation fails with
// err, then the second, and so on, and at last none. Each time it yields the disk after
// run.
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
