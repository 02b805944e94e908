[playlist]
NumberOfEntries=2
File1=http://u:p@[::1%25a]:80/x
Title1=café
Length1=1:02.5
File2=C:\x#
Ref3=//h/x
