# Пакет: what is built of what.
{ lib, pkgs, config, ... }:

let
  inherit (lib) mkIf mkOption;
  word = "слово";

  # Adds two.
  add = a: b: a + b;

  wrap = { name, args ? [ ] }:
    pkgs.writeScript name ''
      exec ${name} ${toString args}
    '';

  cfg = config.services.shapes;
in
{
  imports = [ ./base.nix ];

  options.services.shapes = {
    enable = mkOption {
      default = false;
    };
    port = mkOption {
      default = 80;
    };
  };

  config = mkIf cfg.enable {
    systemd.services.shapes = {
      script = "${wrap { name = "shapes"; }}";
    };

    # for all
    users.users.shapes = { };
  };

  overlay = final: prev: {
    shapes = final.callPackage ./shapes.nix { };
  };
}
