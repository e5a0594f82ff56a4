package mobile

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// consumer is the project of somebody who has nothing but the address of a repository.
const consumer = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.example</groupId>
  <artifactId>app</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <repositories>
    <repository><id>folder</id><url>file://FOLDER</url></repository>
  </repositories>
  <dependencies>
    <dependency>
      <groupId>org.zofl</groupId>
      <artifactId>zofl-jvm</artifactId>
      <version>[0.1,)</version>
    </dependency>
    <dependency>
      <groupId>org.zofl</groupId>
      <artifactId>zofl-jvm</artifactId>
      <version>[0.1,)</version>
      <type>so</type>
      <classifier>linux-ARCH</classifier>
    </dependency>
  </dependencies>
</project>
`

// TestMavenFolder: an empty project takes classes and native library from a repository in a folder,
// which publish.sh fills, and Java finds the client in them.
func TestMavenFolder(t *testing.T) {
	t.Parallel()
	bound(t)
	if _, err := exec.LookPath("mvn"); err != nil {
		t.Skip("mvn is missing: apt-get install -y maven")
	}
	made, folder, app := os.Getenv("ZOFL_JVM"), t.TempDir(), t.TempDir()
	run := func(dir, name string, args ...string) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd, err, out)
		}
	}
	run("../../android", "./publish.sh", folder, made)
	pom := strings.NewReplacer("FOLDER", folder, "ARCH", runtime.GOARCH).Replace(consumer)
	if err := os.WriteFile(filepath.Join(app, "pom.xml"), []byte(pom), 0o644); err != nil {
		t.Fatal(err)
	}
	// Offline but for the folder. What Maven keeps of it goes with the test.
	local := filepath.Join(os.Getenv("HOME"), ".m2/repository/org/zofl/zofl-jvm")
	t.Cleanup(func() { os.RemoveAll(local) })
	run(app, "mvn", "-o", "-q", "-B", "-Daether.offline.protocols=file",
		"dependency:copy-dependencies", "-DoutputDirectory=libs")
	for pattern, want := range map[string]string{"*.jar": "gobind.jar", "*.so": "libgojni.so"} {
		names, err := filepath.Glob(filepath.Join(app, "libs", pattern))
		if err != nil || len(names) != 1 {
			t.Fatalf("%s: %v, %v, want one", pattern, names, err)
		}
		got, err := os.ReadFile(names[0])
		if err != nil {
			t.Fatal(err)
		}
		if of, err := os.ReadFile(filepath.Join(made, want)); err != nil || !bytes.Equal(got, of) {
			t.Errorf("%s is not %s, %v", names[0], want, err)
		}
		if pattern == "*.jar" {
			run(app, "javap", "-cp", names[0], "zofl.mobile.Client")
		}
	}
}
