# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
#
# Chooses the slot, for any U-Boot of Debian's. Needs devtype and devnum, which bootflow or uboot.env set. The state is in two copies of 16 KiB
# on the raw disk, at 1 MiB and 2 MiB, in the form of a redundant environment: crc32 (little endian, over the data), flags (one byte that
# counts up), data (name=value and a zero byte each). rootfs/overlay/usr/libexec/linnet/slots writes the same through libubootenv.
setenv disk_id 4c494e4e
test -n "${devtype}" || setenv devtype mmc
test -n "${devnum}" || setenv devnum 0
if test "${board}" = "rpi"; then setenv M 4800000; setenv kernel_addr_r 400000; setenv ramdisk_addr_r 5000000; else setenv M 47000000; setenv kernel_addr_r 48000000; setenv ramdisk_addr_r 4c000000; fi
setenv len 3ffb
setexpr st0 ${M} + 0
setexpr st1 ${M} + 10000
setexpr tmp ${M} + 20000
setexpr sum ${M} + 20100
setexpr page ${M} + 30000
setexpr t0 ${tmp} + 0; setexpr t1 ${tmp} + 1; setexpr t2 ${tmp} + 2; setexpr t3 ${tmp} + 3
setexpr s0 ${sum} + 0; setexpr s1 ${sum} + 1; setexpr s2 ${sum} + 2; setexpr s3 ${sum} + 3
# this build may store the crc big or little endian: look at crc32("\0") = d202ef8d
mw.b ${sum} 0 1
crc32 ${sum} 1 ${tmp}
setexpr.b v *${tmp}
if itest.b ${v} == d2; then setenv swap 'cp.b ${t3} ${s0} 1; cp.b ${t2} ${s1} 1; cp.b ${t1} ${s2} 1; cp.b ${t0} ${s3} 1'; else setenv swap 'cp.b ${tmp} ${sum} 4'; fi
# crc of the copy at ${a} as 4 bytes at ${sum}
setenv st_sum 'setexpr d ${a} + 5; crc32 ${d} ${len} ${tmp}; run swap'
setenv ok0 0; setenv ok1 0; setenv f0 0; setenv f1 0
${devtype} dev ${devnum}
setenv a ${st0}
if ${devtype} read ${a} 800 20; then run st_sum; if cmp.b ${sum} ${a} 4; then setenv ok0 1; fi; fi
setexpr fa ${a} + 4; setexpr.b f0 *${fa}
setenv a ${st1}
if ${devtype} read ${a} 1000 20; then run st_sum; if cmp.b ${sum} ${a} 4; then setenv ok1 1; fi; fi
setexpr fa ${a} + 4; setexpr.b f1 *${fa}
setenv cur none
if test ${ok0} = 1; then setenv cur 0; fi
if test ${ok1} = 1; then setenv cur 1; fi
if test ${ok0}${ok1} = 11; then
  if itest ${f1} -gt ${f0}; then setenv cur 1; else setenv cur 0; fi
  if itest ${f0} == ff && itest ${f1} == 0; then setenv cur 1; fi
  if itest ${f1} == ff && itest ${f0} == 0; then setenv cur 0; fi
fi
if test ${cur} = 0; then setexpr d ${st0} + 5; setenv f ${f0}; setenv a ${st1}; setenv lba 1000; fi
if test ${cur} = 1; then setexpr d ${st1} + 5; setenv f ${f1}; setenv a ${st0}; setenv lba 800; fi
if test ${cur} = none; then setenv f 0; setenv a ${st0}; setenv lba 800; else env import -b ${d} ${len} BOOT_ORDER BOOT_A_LEFT BOOT_B_LEFT; fi
test -n "${BOOT_ORDER}" || setenv BOOT_ORDER "A B"
test -n "${BOOT_A_LEFT}" || setenv BOOT_A_LEFT 3
test -n "${BOOT_B_LEFT}" || setenv BOOT_B_LEFT 3
echo "linnet: copy ${cur} valid ${ok0}${ok1} flags ${f0}/${f1} order [${BOOT_ORDER}] left A=${BOOT_A_LEFT} B=${BOOT_B_LEFT}"
# write the state to the copy that is not current
setenv st_save 'mw.b ${a} 0 4000; setexpr d ${a} + 5; env export -b -s ${len} ${d} BOOT_ORDER BOOT_A_LEFT BOOT_B_LEFT; setexpr.b f ${f} + 1; setexpr fa ${a} + 4; mw.b ${fa} ${f}; run st_sum; cp.b ${sum} ${a} 4; ${devtype} write ${a} ${lba} 20'
setenv slot
for s in ${BOOT_ORDER}; do
  if test -n "${slot}"; then true;
  elif test ${s} = A && itest ${BOOT_A_LEFT} -gt 0; then
    setexpr BOOT_A_LEFT ${BOOT_A_LEFT} - 1; setenv bp 5; setenv rp 06
    if load ${devtype} ${devnum}:${bp} ${kernel_addr_r} vmlinuz && load ${devtype} ${devnum}:${bp} ${ramdisk_addr_r} initrd; then setenv isz ${filesize}; setenv slot A; fi
  elif test ${s} = B && itest ${BOOT_B_LEFT} -gt 0; then
    setexpr BOOT_B_LEFT ${BOOT_B_LEFT} - 1; setenv bp 7; setenv rp 08
    if load ${devtype} ${devnum}:${bp} ${kernel_addr_r} vmlinuz && load ${devtype} ${devnum}:${bp} ${ramdisk_addr_r} initrd; then setenv isz ${filesize}; setenv slot B; fi
  fi
done
if test -z "${slot}"; then
  echo "linnet: no slot left, counters reset"
  setenv BOOT_A_LEFT 3; setenv BOOT_B_LEFT 3
  run st_save; sleep 1; reset
fi
echo "linnet: booting slot ${slot}, left A=${BOOT_A_LEFT} B=${BOOT_B_LEFT}"
run st_save || echo "linnet: state not saved"
# What is on the card's own page for the kernel (arguments=...); kept by updates.
setenv arguments "quiet console=tty0 fbcon=font:TER16x32"
if load ${devtype} ${devnum}:1 ${page} arguments.txt; then env import -t ${page} ${filesize} arguments; fi
setenv bootargs "root=PARTUUID=${disk_id}-${rp} rootfstype=squashfs ro rauc.slot=${slot} systemd.volatile=state panic=5 ${arguments}"
test -n "${fdt_addr}" || setenv fdt_addr ${fdtcontroladdr}
if test "${board}" = "rpi"; then setenv kernel_comp_addr_r a000000; else setenv kernel_comp_addr_r 54000000; fi
setenv kernel_comp_size 4000000
booti ${kernel_addr_r} ${ramdisk_addr_r}:${isz} ${fdt_addr}
echo "linnet: booti failed"; sleep 1; reset
