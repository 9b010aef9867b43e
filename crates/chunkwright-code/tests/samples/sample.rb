# frozen_string_literal: true

# Склад: what is kept where.
require "json"
require_relative "store/item"
autoload :Log, "store/log"

NAME = "склад"

module Store
  VERSION = "1.0"

  # Raised when nothing is left.
  class Empty < StandardError; end

  Item = Struct.new(:name, :count) do
    def empty?
      count.zero?
    end
  end

  # Keeps items.
  class Shelf < Base
    include Enumerable
    attr_reader :items, :size

    class << self
      def open(path)
        new(JSON.parse(File.read(path)))
      end
    end

    def self.blank = new([])

    # Makes a shelf.
    def initialize(items)
      @items = items
    end

    def each(&block)
      return enum_for(:each) unless block

      items.each(&block)
    end

    def <<(item)
      case item
      when Item then items << item
      else raise Empty
      end
      self
    end

    def [](name) = items.find { |item| item.name == name }

    define_method(:count) do
      items.size
    end

    private

    # Not for others.
    def check!
      raise Empty if items.empty?
    rescue Empty => e
      warn e
    ensure
      @checked = true
    end

    private def hidden
      1
    end
  end

  module_function

  def total(shelves)
    shelves.sum(&:size)
  end
end

if ENV["DEBUG"]
  def debug(text)
    warn text
  end
end

def main
  puts NAME
end

main if $PROGRAM_NAME == __FILE__
