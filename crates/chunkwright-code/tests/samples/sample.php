<?php
// Учёт «книг» — 図書館.
declare(strict_types=1);

namespace Library\Loans;

use DateTimeImmutable;
use Library\{Book, Reader as Person};
use function Library\Support\dated;
use const Library\LIMIT;

require_once __DIR__ . '/bootstrap.php';

const DAYS = 14;

define('SHELVES', [
    'a' => 1,
    'b' => 2,
]);

/**
 * What can be lent.
 */
interface Lendable
{
    public const MAX = 3;

    public function lend(Person $reader): void;
}

/** Remembers when. */
trait Dated
{
    private ?DateTimeImmutable $at = null;

    public function stamp(): static
    {
        $this->at = new DateTimeImmutable();
        return $this;
    }
}

#[Attribute]
enum State: string
{
    case Free = 'free';
    case Lent = 'lent';

    public static function first(): self { return self::Free; }
}

/**
 * A desk where books are lent.
 */
#[Entity(name: 'desk')]
final class Desk extends Counter implements Lendable
{
    use Dated, Counted {
        Counted::count as private tally;
    }

    private array $loans = [];

    #[Pure]
    public function __construct(private readonly Book $book, int $days = DAYS)
    {
        parent::__construct();
    }

    // Lends while there is one.
    #[Route('/lend')]
    public function lend(Person $reader): void
    {
        $inner = function (int $count) use ($reader) {
            return $count > 0;
        };
        foreach ($this->loans as $loan) {
            if ($loan) {
                break;
            } elseif ($inner(1)) {
                continue;
            }
        }
        $state = match (true) {
            $inner(2) => State::Lent,
            default => State::Free,
        };
    }

    abstract protected function count(): int;
}

function overdue(array $loans): int
{
    return count(array_filter($loans, fn ($loan) => $loan->late));
}

$renew = function (Book $book): Book {
    return $book;
};

if (!function_exists('lent')) {
    function lent(): bool { return false; }
}

return new class extends Desk {
    public function up(): void {}
};
?>
<p>Всё</p>
