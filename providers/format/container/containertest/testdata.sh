#!/usr/bin/env bash
# Makes the testdata of the container formats: one small tree, packed by the
# programs of each format. Run it in providers/format.
set -euo pipefail
out=$PWD
cd "$(mktemp -d)"
mkdir -p in/d
echo hello > in/a.txt
seq 200 > in/d/seq
ln -s a.txt in/l
: > in/e
chmod 755 in/a.txt
touch -h -d @1700000000 in/* in/d/* in

for c in gzip xz zstd lz4 lzo lzma; do
  mksquashfs in "$out/squashfs/testdata/$c.squashfs" -comp $c -noappend -nopad -quiet -all-root -mkfs-time 1700000000
done
genisoimage -quiet -R -J -o x.iso in && gzip -9n < x.iso > "$out/iso9660/testdata/rockridge.iso.gz"
(cp -r in plain && rm plain/l && genisoimage -quiet -J -o j.iso plain && gzip -9n < j.iso > "$out/iso9660/testdata/joliet.iso.gz")
bsdtar --uid 0 --gid 0 --uname root --gname root -cf "$out/xar/testdata/small.xar" --format xar -C in .
for z in "lzma2" "ppmd -m0=ppmd" "bcj -m0=bcj -m1=lzma" "stored -m0=copy -mhc=off" "encrypted_header -psecret -mhe=on" "encrypted -psecret"; do
  set -- $z
  7zz a -bd -snl "${@:2}" "$out/sevenzip/testdata/$1.7z" ./in/* > /dev/null
done
for z in "mszip -z" "stored"; do
  set -- $z
  (cd in && gcab -c ${2:-} "$out/cab/testdata/$1.cab" a.txt d/seq e)
done
cat > s.wxs <<'WXS'
<?xml version='1.0'?>
<Wix xmlns='http://schemas.microsoft.com/wix/2006/wi'>
<Product Name='Thing' Id='ABCDDCBA-86C7-4D14-AEC0-86416A69ABDE' UpgradeCode='ABCDDCBA-7349-453F-94F6-BCB5110BA4FD' Language='1033' Codepage='1252' Version='1.0.0' Manufacturer='x'>
<Package Id='*' InstallerVersion='100' Languages='1033' Compressed='yes' SummaryCodepage='1252'/>
<Media Id='1' Cabinet='Sample.cab' EmbedCab='yes'/>
<Directory Id='TARGETDIR' Name='SourceDir'><Directory Id='ProgramFilesFolder' Name='PFiles'><Directory Id='INSTALLDIR' Name='Thing'>
<Component Id='Main' Guid='ABCDDCBA-83F1-4F22-985B-FDB3C8ABD471'><File Id='A' Name='a.txt' DiskId='1' Source='in/a.txt' KeyPath='yes'/></Component>
</Directory></Directory></Directory>
<Feature Id='Complete' Level='1'><ComponentRef Id='Main'/></Feature>
</Product></Wix>
WXS
wixl -o s.msi s.wxs && gzip -9n < s.msi > "$out/cfb/testdata/small.msi.gz"
cat > t.spec <<'SPEC'
Name: thing
Version: 1
Release: 1
Summary: x
License: x
BuildArch: noarch
%description
x
%install
mkdir -p %{buildroot}/opt/thing
cp -a IN/. %{buildroot}/opt/thing
%files
/opt/thing
SPEC
sed -i "s#IN#$PWD/in#" t.spec
rpmbuild -bb --quiet --define "_topdir $PWD/top" --define '_binary_payload w9.gzdio' --define '_buildhost localhost' t.spec
cp top/RPMS/noarch/*.rpm "$out/rpm/testdata/small.rpm"
seq 300 > x
gzip -9nc x > "$out/stream/testdata/seq.gz"
bzip2 -c x > "$out/stream/testdata/seq.bz2"
xz -c x > "$out/stream/testdata/seq.xz"
xz -c --format=lzma x > "$out/stream/testdata/seq.lzma"
zstd -qc x > "$out/stream/testdata/seq.zst"
lz4 -qc x > "$out/stream/testdata/seq.lz4"
lz4 -qlc x > "$out/stream/testdata/legacy.lz4"
cd in
for f in newc crc odc bin; do
  find . | LC_ALL=C sort | cpio -o -H $f --quiet -R 0:0 --reproducible > "$out/cpio/testdata/$f.cpio"
done
