#!/bin/sh
# A loss in shell for `zofl exec -- sh loss.sh`: a bowl around 0, 1, 2, ...
while read -r verb args; do
	case $verb in
	hello) echo "hello 1 dim=0" ;;
	map) path=${args##*path=} dim=${args#*dim=} dim=${dim%% *} && echo ok ;;
	loss) od -A n -v -t f4 -w4 -N $((4 * dim)) "$path" |
		awk '{ e = $1 - (NR - 1); sum += e * e } END { printf "loss %.9g\n", sum }' ;;
	*) echo "error unknown request" ;;
	esac
done
