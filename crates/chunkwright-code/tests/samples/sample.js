// util
import a from './a';
const b = require('b');
/** Adds. */
export function add(x, y) {
  const inner = () => x;
  return x + y;
}
export default class Foo extends Bar {
  static #p = 1;
  handler = () => { return 1; };
  get x() { return 1; }
  async run() { await 1; }
}
export const arrow = async (a) => {
  return a;
};
module.exports.foo = function (a) { return a; };
Foo.prototype.bar = function bar() {};
const Klass = class { m() {} };
export { add, arrow } from './z';
export * from './y';
describe('x', () => {
  it('y', () => { function deep() {} });
});
(function () {
  function hidden() { return 1; }
  var v = function () {};
})();
