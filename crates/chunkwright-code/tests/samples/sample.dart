#!/usr/bin/env dart
// Список «дел» — 一覧.
library tasks;

import 'dart:async';
import 'package:path/path.dart' as p show join;
export 'src/task.dart';
part 'tasks.g.dart';

/// How much it matters.
enum Weight {
  light,
  heavy;

  bool get isHeavy => this == heavy;
}

typedef Done = void Function(String name);

const limit = 10;
final names = <String>[
  'one',
  'two',
];

/// Something to do.
@immutable
abstract class Task<T extends Object> extends Entry with Dated implements Comparable<Task> {
  final String name;
  static int _count = 0;

  Task(this.name, {required this.weight}) : assert(name != '') {
    _count++;
  }

  const Task.named(this.name);

  factory Task.from(Map<String, Object> json) {
    return Small(json['name'] as String);
  }

  /// By name.
  @override
  int compareTo(Task other) {
    int sign(int value) => value < 0 ? -1 : 1;
    switch (name.length) {
      case 0:
        return sign(-1);
      default:
        return sign(1);
    }
  }

  String get label => '№ $name';

  set label(String value) {
    print(value);
  }

  Task operator +(Task other) => this;

  Future<void> run() async {
    await Future.delayed(Duration.zero, () {
      print('done');
    });
  }

  void stop();
}

mixin Dated on Entry {
  DateTime? at;
  void stamp() {
    at = DateTime.now();
  }
}

extension Short on String {
  String get first => this[0];
}

external int now();

int get total => 0;

// The start.
void main(List<String> arguments) {
  final show = (String text) {
    print(text);
  };
  arguments.forEach(show);
}
