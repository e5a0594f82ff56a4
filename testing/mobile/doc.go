// Package mobile tests package client/mobile against a real broker, from Go and as
// apps have it: bound for Java by gobind, compiled, and run on the JVM of this machine.
//
// Those from Java need what examples/android/hostjvm.sh makes, and are skipped without:
//
//	examples/android/hostjvm.sh
//	ZOFL_JVM=$PWD/examples/android/_hostjvm go -C testing test ./mobile
//
// ZOFL_QEMU=1 lets an emulated Raspberry Pi Zero join. The programs that they run
// are in java; each prints a JSON object a line. bench.sh measures what the crossing
// from Go to Java and back costs.
package mobile
