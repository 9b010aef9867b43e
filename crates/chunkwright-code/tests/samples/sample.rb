require 'json'
# A module
module Foo
  class Bar < Baz
    attr_reader :a
    def initialize(a)
      @a = a
    end
    def self.create; new; end
    class << self
      def x; end
    end
    private
    def p?; true; end
  end
end
if true
  def cond; end
end
