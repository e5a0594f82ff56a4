#!/usr/bin/env bash
# A Debian like this one, where a package is installed, under a systemd of its own.
#
#   boot.sh begin WORK NAME PACKAGE FILES   in namespaces of its own, but for that of cgroups,
#       which is made here: NAME is a cgroup to be made. FILES are copied to the system's root.
#       WORK is an empty directory. Says "installed" on file 3 before it becomes systemd.
#   boot.sh clean WORK NAME                 in a mount namespace: removes the cgroup
#
# The system is this one's files, with whatever is written kept in memory. Its units are
# PACKAGE's, and what every system begins with, so nothing of this machine is started or set.
# It ends with 77 where the machine does not allow that.
set -euo pipefail

allowed() {
	"$@" || { echo "boot.sh: this machine does not allow: $*" >&2; exit 77; }
}

# cgroups mounts the hierarchy, as this namespace sees it, in an empty directory.
cgroups() {
	allowed mount --make-rprivate /
	allowed mount -t cgroup2 cgroup2 "$1"
}

# boot WORK PACKAGE FILES
boot() {
	local work=$1 package=$2 files=$3 units=usr/lib/systemd/system d
	allowed mount -t tmpfs tmpfs "$work"
	cd "$work"
	mkdir upper own root
	allowed mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=own root
	cd root
	allowed mount -t proc proc proc
	allowed mount -t sysfs sysfs sys
	allowed mount -t cgroup2 cgroup2 sys/fs/cgroup
	mount -t tmpfs -o mode=755 tmpfs run
	mount -t tmpfs -o mode=755 tmpfs dev
	for d in null zero full random urandom tty; do
		touch "dev/$d"
		mount --bind "/dev/$d" "dev/$d"
	done
	mkdir dev/{shm,pts,mqueue,hugepages}
	ln -s pts/ptmx dev/ptmx
	mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts

	mkdir "$work/units"
	cp -a "$units"/{sysinit,basic,multi-user,shutdown,network-online}.target "$work/units"
	mount --bind "$work/units" "$units"
	for d in etc/systemd/system usr/lib/systemd/system-generators; do
		mkdir -p "$d"
		mount -t tmpfs -o mode=755 tmpfs "$d"
	done
	cp "$package" tmp/package.deb
	chroot . dpkg --install /tmp/package.deb 3>&-
	cp -r "$files/." .

	mkdir old
	allowed pivot_root . old
	umount -l old
	# As on a machine, where systemd does it: it mounts a service's credentials in a namespace of
	# their own, and the service sees them only if mounts are shared.
	mount --make-rshared /
	echo installed >&3
	exec env -i container=zofl PATH="$PATH" /usr/lib/systemd/systemd --system \
		--log-target=console --show-status=no --unit=basic.target </dev/null 3>&-
}

case $1 in
begin)
	cgroups "$2"
	mkdir "$2/$3"
	echo 0 >"$2/$3/cgroup.procs"
	umount "$2"
	exec unshare --cgroup bash "$0" boot "$2" "$4" "$5"
	;;
boot) boot "$2" "$3" "$4" ;;
clean)
	cgroups "$2"
	find "$2/$3" -depth -type d -exec rmdir {} +
	;;
esac
