# Сеть: what runs where.
terraform {
  required_version = ">= 1.5"

  required_providers {
    aws = {
      source = "hashicorp/aws"
    }
  }
}

provider "aws" {
  region = var.region
}

// Where it runs.
variable "region" {
  type        = string
  description = "Область"
  default     = "eu-west-1"
}

locals {
  tags = {
    owner = "web"
  }
}

data "aws_ami" "linux" {
  most_recent = true

  filter {
    name   = "name"
    values = ["linux-*"]
  }
}

/* The server. */
resource "aws_instance" "web" {
  count         = 2
  ami           = data.aws_ami.linux.id
  instance_type = "t3.micro"

  # run once
  provisioner "local-exec" {
    command = <<-EOT
      echo ${self.id}
    EOT
  }

  tags = merge(local.tags, {
    name = "web"
  })
}

module "vpc" {
  source = "./vpc"
}

output "addresses" {
  value = [for i in aws_instance.web : i.public_ip]
}
