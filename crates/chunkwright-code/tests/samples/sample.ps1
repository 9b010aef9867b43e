# Копии: makes copies of folders.
using module ./Shapes.psm1
Import-Module Pester
. ./lib.ps1

$Word = "копия"
$Targets = @{
    One = "a"
    Two = "b"
}

<#
.SYNOPSIS
Copies a folder.
#>
function Copy-Folder {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)]
        [string]$Path,
        [switch]$Force
    )

    begin {
        Write-Verbose "start"
    }
    process {
        function Get-Inner { 1 }
        foreach ($target in $Targets.Values) {
            # each has its own
            Copy-Item $Path $target
        }
        switch ($Path) {
            "a" { 1 }
            default { 2 }
        }
    }
}

filter Get-Even { if ($_ % 2 -eq 0) { $_ } }

function script:Get-Word($Name) { return $Word }

class Shape {
    [string]$Name
    static [int]$Count = 0

    Shape([string]$name) {
        $this.Name = $name
    }

    # How large it is.
    [double] Area() {
        return 0
    }
}

class Circle : Shape {
    Circle() : base("круг") { }
}

enum Color {
    Red
    Green = 2
}

if ($Debug) {
    function Write-Debugging { "on" }
}

Copy-Folder -Path "." -Force
