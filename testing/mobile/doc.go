// Package mobile tests package client/mobile against a real broker: from Go, and as apps
// use it, bound for Java by gobind, compiled, and run on this machine's JVM.
//
// The tests from Java need the output of android/hostjvm.sh, and are skipped without it:
//
//	android/hostjvm.sh
//	ZOFL_JVM=$PWD/android/_hostjvm go -C testing test ./mobile
//
// With ZOFL_QEMU=1 an emulated Raspberry Pi Zero joins. The Java programs are in folder
// java; each prints one JSON object per line. bench.sh measures the cost of crossing from
// Go to Java and back.
package mobile
