// Package mobile tests package client/mobile against a real broker, from Go and from Java. Apps use
// the package in the same way: gobind binds the package for Java, and this machine's JVM runs the
// compiled program.
//
// The tests from Java need the output of android/hostjvm.sh, and are skipped without it:
//
//	android/hostjvm.sh
//	ZOFL_JVM=$PWD/android/_hostjvm go -C testing test ./mobile
//
// With ZOFL_QEMU=1 an emulated Raspberry Pi Zero takes part. The Java programs are in folder java;
// each program prints one JSON object per line. bench.sh measures the cost of calls from Go to Java
// and back.
package mobile
